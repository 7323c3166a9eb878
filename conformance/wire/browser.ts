/**
 * As much of a browser as signing in needs: a cookie jar, navigations, redirects, forms.
 *
 * @module
 */

import { exchange, type Received, type TlsPlace } from './exchange.ts';

/** Headers a browser sends with a page load. */
export const NAVIGATION = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-site': 'none',
} as const;

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly host: string;
  readonly path: string;
}

/** Options of one navigation. */
export interface Visit {
  readonly method?: 'GET' | 'POST' | 'HEAD';
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const REDIRECTS_MAX = 20;

/** A person's browser. Cookies are kept by host name, as browsers do: ports share them. */
export class Browser {
  #jar: Cookie[] = [];
  /** Every exchange so far, oldest first. */
  readonly history: Received[] = [];
  readonly #acceptsCookies: boolean;
  readonly #place: TlsPlace | undefined;

  /**
   * @param acceptsCookies - `false` for a browser that blocks them.
   * @param place - Where all addresses are served; their own hosts and ports when absent.
   */
  constructor(acceptsCookies = true, place?: TlsPlace) {
    this.#acceptsCookies = acceptsCookies;
    this.#place = place;
  }

  /** Names of the cookies kept for a host. */
  cookieNames(host: string): readonly string[] {
    return this.#jar.filter((cookie) => cookie.host === host).map((cookie) => cookie.name);
  }

  /** A cookie's value. */
  cookie(host: string, name: string): string | undefined {
    return this.#jar.find((cookie) => cookie.host === host && cookie.name === name)?.value;
  }

  /** Plants a cookie, as a sibling domain could. */
  setCookie(host: string, name: string, value: string): void {
    this.#jar = [
      ...this.#jar.filter((cookie) => cookie.host !== host || cookie.name !== name),
      { name, value, host, path: '/' },
    ];
  }

  /** Forgets everything; of one host alone where one is given. */
  clearCookies(host?: string): void {
    this.#jar = host === undefined ? [] : this.#jar.filter((cookie) => cookie.host !== host);
  }

  /** One exchange with cookies, without following. */
  async step(url: string, { method = 'GET', form, headers = {} }: Visit = {}): Promise<Received> {
    const { hostname, pathname } = new URL(url);
    const cookies = this.#jar.filter(
      ({ host, path }) => host === hostname && pathMatches(pathname, path),
    );
    const body = form === undefined ? undefined : new URLSearchParams(form).toString();
    const sent = {
      method: form === undefined ? method : 'POST',
      headers: {
        ...NAVIGATION,
        ...(cookies.length === 0
          ? {}
          : { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') }),
        ...(body === undefined
          ? {}
          : {
              'content-type': 'application/x-www-form-urlencoded',
              'content-length': String(Buffer.byteLength(body)),
            }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    };
    const received = await exchange(url, sent, this.#place);
    if (this.#acceptsCookies)
      for (const line of received.setCookies) this.#keep(line, hostname, pathname);
    this.history.push(received);
    return received;
  }

  /** Loads a page and follows redirects to where they end. */
  async visit(url: string, visit: Visit = {}): Promise<Received> {
    let received = await this.step(url, visit);
    for (let hops = 0; ; hops += 1) {
      const next = nextAddress(received);
      if (next === undefined) return received;
      if (hops === REDIRECTS_MAX) throw new Error(`redirects without end, last to ${next}`);
      await pauseAfter(received);
      received = await this.step(new URL(next, received.url).href);
    }
  }

  /** Fills in the form of a page and follows where it leads. */
  async submit(page: Received, fields: Readonly<Record<string, string>>): Promise<Received> {
    const { action, form } = readForm(page);
    return this.visit(action, {
      form: { ...form, ...fields },
      headers: { origin: new URL(page.url).origin },
    });
  }

  #keep(line: string, host: string, requestPath: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals);
    const attribute = (wanted: string) =>
      attributes
        .find((each) => each.toLowerCase().startsWith(`${wanted}=`))
        ?.slice(wanted.length + 1);
    const path =
      attribute('path') ?? requestPath.slice(0, Math.max(1, requestPath.lastIndexOf('/')));
    const expires = attribute('expires');
    const isGone =
      attribute('max-age') === '0' || (expires !== undefined && Date.parse(expires) <= 0);
    this.#jar = this.#jar.filter(
      (cookie) => cookie.host !== host || cookie.name !== name || cookie.path !== path,
    );
    if (!isGone) this.#jar.push({ name, value: pair.slice(equals + 1), host, path });
  }
}

/** Where a browser would go on to by itself: a redirect's Location, or what a page's Refresh header names. */
export function nextAddress({ status, location, headers, url }: Received): string | undefined {
  if (status >= 301 && status <= 308 && status !== 304) return location;
  return readRefresh(headers['refresh'], url);
}

/** Where a Refresh header leads; `undefined` without one. Without an address a page loads itself again. */
export function readRefresh(refresh: unknown, url: string): string | undefined {
  if (typeof refresh !== 'string') return undefined;
  return /^\d+; ?url=(.*)$/i.exec(refresh)?.[1] ?? url;
}

/** Waits as long as a browser does before it goes on. */
export async function pauseAfter({ headers }: Received): Promise<void> {
  const { refresh } = headers;
  const pauseMs = typeof refresh === 'string' ? Number.parseInt(refresh, 10) * 1_000 : 0;
  if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
}

/** The first form of a page: where it goes, and what its hidden fields hold. */
export function readForm(page: Pick<Received, 'url' | 'status' | 'body'>): {
  readonly action: string;
  readonly form: Readonly<Record<string, string>>;
} {
  const tag = /<form\b[^>]*>/i.exec(page.body)?.[0];
  if (tag === undefined) throw new Error(`no form on ${page.url} (status ${page.status})`);
  const form: Record<string, string> = {};
  for (const [input] of page.body.matchAll(/<input\b[^>]*>/gi)) {
    const name = attribute(input, 'name');
    if (name !== undefined && attribute(input, 'type') === 'hidden')
      form[name] = attribute(input, 'value') ?? '';
  }
  return { action: new URL(attribute(tag, 'action') ?? '', page.url).href, form };
}

function attribute(markup: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`, 'i').exec(markup)?.[1];
  return value?.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");
}

function pathMatches(path: string, cookiePath: string): boolean {
  return (
    path === cookiePath || path.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`)
  );
}
