/**
 * An address to listen on, as an option gives it.
 *
 * @module
 */

/** Host and port. */
export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

const PORT_MAX = 65_535;

/** Reads `HOST:PORT` or `[IPv6]:PORT`. @returns `undefined` when it is neither. */
export function readListenAddress(text: string): ListenAddress | undefined {
  const [, v6, name = v6, digits = ''] =
    /^(?:\[([0-9a-f:]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  return name === undefined || port > PORT_MAX ? undefined : { host: name, port };
}
