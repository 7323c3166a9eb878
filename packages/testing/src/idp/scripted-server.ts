/**
 * A small HTTP server for tests: it answers what a test scripted and keeps what it was asked.
 *
 * @module
 */

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { listenOnFreePort } from '../wire/listen.ts';

/** A request as it arrived. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as a form. */
  readonly form: Readonly<Record<string, string>>;
}

/** An answer; `body` that is no text is sent as JSON. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A running server. */
export interface ScriptedServer {
  readonly origin: string;
  readonly requests: RecordedRequest[];
  /** Answers the next requests to a path, the last one also all after it. */
  script(path: string, ...answers: readonly ScriptedAnswer[]): void;
  close(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1; a path without a script is answered 404. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const requests: RecordedRequest[] = [];
  const scripts = new Map<string, ScriptedAnswer[]>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const path = request.url ?? '';
      requests.push({
        method: request.method ?? '',
        path,
        headers: request.headers,
        body,
        form: Object.fromEntries(new URLSearchParams(body)),
      });
      const script = scripts.get(path) ?? [];
      const answer = (script.length > 1 ? script.shift() : script[0]) ?? { status: 404 };
      const { body: answerBody = {} } = answer;
      const isText = typeof answerBody === 'string';
      response.writeHead(answer.status ?? 200, {
        'content-type': isText ? 'text/html' : 'application/json',
        ...answer.headers,
      });
      response.end(isText ? answerBody : JSON.stringify(answerBody));
    });
  });
  const port = await listenOnFreePort(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    script: (path, ...answers) => void scripts.set(path, [...answers]),
    close: () => closeServer(server),
  };
}

/** Ends a server and its connections. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
