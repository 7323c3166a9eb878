/**
 * What the command line asks of the agent: where it answers, and which file it keeps.
 *
 * @module
 */

import { resolve } from 'node:path';
import type { ClientBlock } from '@sallyport/client';
import type { MetricsConfig } from '@sallyport/config';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { readListenAddress } from '../process/listen-address.ts';

/** Options of the command line. */
export interface AgentOptions {
  readonly config: string;
  readonly block?: ClientBlock;
  readonly tokenFile?: string;
  readonly header?: boolean;
  readonly socket?: string;
  readonly listen?: string;
  readonly capabilityFile?: string;
  readonly metrics?: string;
  readonly json?: boolean;
}

/** Where the agent gives its token. At least one of the three is there. */
export interface AgentPlan {
  /** Absolute path. */
  readonly configFile: string;
  /** `undefined`: the block that the configuration fills in. */
  readonly block: ClientBlock | undefined;
  /** `isHeaderLine`: the whole header line instead of the bare token. */
  readonly tokenFile: { readonly path: string; readonly isHeaderLine: boolean } | undefined;
  /** Path of the Unix socket, absolute. */
  readonly socketPath: string | undefined;
  readonly loopback: LoopbackPlace | undefined;
  /** Where metrics are served; they hold no secret. */
  readonly metrics: MetricsConfig | undefined;
}

/** A TCP port of this machine. */
export interface LoopbackPlace {
  readonly host: '127.0.0.1' | '::1';
  /** 0 takes a free one. */
  readonly port: number;
  /** Absolute path of the file that the capability is written to. */
  readonly capabilityFile: string;
}

/**
 * Reads the options. Looks at no file.
 *
 * @param folder - Relative paths begin here.
 * @returns Otherwise what is wrong, in one sentence.
 */
export function planAgent(options: AgentOptions, folder: string): Result<AgentPlan, string> {
  const { tokenFile, socket, listen, capabilityFile, metrics, header = false } = options;
  if (tokenFile === undefined && socket === undefined && listen === undefined)
    return refuse('give --token-file, --socket or --listen: without one no program gets the token');
  if (header && tokenFile === undefined)
    return refuse('--header is about the token file; give --token-file');
  if (listen === undefined && capabilityFile !== undefined)
    return refuse('--capability-file is for --listen alone');
  const loopback = listen === undefined ? undefined : readLoopbackAddress(listen);
  if (listen !== undefined && loopback === undefined)
    return refuse('--listen is 127.0.0.1:PORT or [::1]:PORT: the agent answers this machine alone');
  if (loopback !== undefined && capabilityFile === undefined)
    return refuse('--listen needs --capability-file: every user of this machine can connect');
  const scraped = metrics === undefined ? undefined : readListenAddress(metrics);
  if (metrics !== undefined && scraped === undefined)
    return refuse('--metrics is HOST:PORT, such as 127.0.0.1:9464');
  const absolute = (path: string): string => resolve(folder, path);
  const places = Object.entries({
    '--config': options.config,
    '--token-file': tokenFile,
    '--socket': socket,
    '--capability-file': capabilityFile,
  }).flatMap(([name, path]) => (path === undefined ? [] : [{ name, path: absolute(path) }]));
  for (const [at, { name, path }] of places.entries()) {
    const same = places.slice(0, at).find((earlier) => earlier.path === path);
    if (same !== undefined) return refuse(`${same.name} and ${name} name the same path`);
  }
  return accept({
    configFile: absolute(options.config),
    block: options.block,
    tokenFile:
      tokenFile === undefined ? undefined : { path: absolute(tokenFile), isHeaderLine: header },
    socketPath: socket === undefined ? undefined : absolute(socket),
    loopback:
      loopback === undefined
        ? undefined
        : { ...loopback, capabilityFile: absolute(capabilityFile ?? '') },
    metrics: scraped,
  });
}

function readLoopbackAddress(text: string): Omit<LoopbackPlace, 'capabilityFile'> | undefined {
  const { host, port } = readListenAddress(text) ?? {};
  if (port === undefined) return undefined;
  return host === '127.0.0.1' || host === '::1' ? { host, port } : undefined;
}
