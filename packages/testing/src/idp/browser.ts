/**
 * A browser for tests: cookies by path, redirects one at a time, forms by their fields.
 *
 * @module
 */

import { request } from 'node:http';

/** One answer, read whole. */
export interface Answer {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Absolute target of a redirect. */
  readonly location: string | undefined;
}

/** A person's browser. Follows nothing by itself. */
export interface Browser {
  get(url: string): Promise<Answer>;
  submit(
    url: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** Follows redirects as long as they stay at one origin; returns the first answer that does not. */
  follow(answer: Answer, origin: string): Promise<Answer>;
  /** Names of the cookies in the jar. */
  cookieNames(): readonly string[];
}

interface Cookie {
  readonly value: string;
  readonly path: string;
}

interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly localAddress?: string | undefined;
}

/**
 * Creates a browser without cookies.
 *
 * @param localAddress - Address to connect from; the system chooses when absent.
 */
export function createBrowser(localAddress?: string): Browser {
  const cookieByName = new Map<string, Cookie>();

  async function send(url: string, sent: Sent): Promise<Answer> {
    const { pathname } = new URL(url);
    const cookie = [...cookieByName]
      .filter(([, { path }]) => pathname === path || pathname.startsWith(withSlash(path)))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
    const headers = { accept: 'text/html', ...sent.headers, ...(cookie === '' ? {} : { cookie }) };
    const answer = await exchange(url, { ...sent, headers, localAddress });
    for (const line of answer.headers.getSetCookie()) keepCookie(line);
    return answer;
  }

  function keepCookie(line: string): void {
    const [pair = '', ...attributes] = line.split(/;\s*/);
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(pair.indexOf('=') + 1);
    const path = attributes.find((text) => /^path=/i.test(text))?.slice('path='.length) ?? '/';
    if (value === '') cookieByName.delete(name);
    else cookieByName.set(name, { value, path });
  }

  const browser: Browser = {
    get: (url) => send(url, { method: 'GET', headers: {} }),
    submit: (url, fields, headers = {}) =>
      send(url, {
        method: 'POST',
        body: new URLSearchParams({ ...fields }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      }),
    async follow(answer, origin) {
      let last = answer;
      while (last.location !== undefined && new URL(last.location).origin === origin)
        last = await browser.get(last.location);
      return last;
    },
    cookieNames: () => [...cookieByName.keys()],
  };
  return browser;
}

/** Reads the value of a hidden field out of a page. */
export function hiddenField(page: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}

/** One exchange. `fetch` would set `Sec-Fetch-Mode` itself, and knows no way to leave it out. */
function exchange(
  url: string,
  { method, headers, body = '', localAddress }: Sent,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers, agent: false, ...(localAddress === undefined ? {} : { localAddress }) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const received = new Headers();
          for (const [name, values] of Object.entries(response.headersDistinct))
            for (const value of values ?? []) received.append(name, value);
          const location = received.get('location');
          resolve({
            url,
            status: response.statusCode ?? 0,
            headers: received,
            text: Buffer.concat(chunks).toString('utf8'),
            location: location === null ? undefined : new URL(location, url).href,
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
