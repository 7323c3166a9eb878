/**
 * A gRPC backend that remembers what reached it, and a client for it. Messages are text, and not empty:
 * the server takes an empty one for none.
 *
 * @module
 */

import {
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientWritableStream,
  credentials,
  Metadata,
  type MethodDefinition,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  type sendUnaryData,
} from '@grpc/grpc-js';

/** One call as it arrived. */
export interface SeenCall {
  /** Service and method. */
  readonly path: string;
  /** First value of each metadata key. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Epoch milliseconds; infinite without a deadline. */
  readonly deadline: number;
}

/** A running gRPC backend. */
export interface GrpcBackend {
  /** Host and port, without TLS. */
  readonly address: string;
  /** Every call so far, oldest first. */
  readonly seen: SeenCall[];
  /** Resolves when a call waits. */
  readonly waiting: Promise<void>;
  /** Resolves when a call that waits has been cancelled. */
  readonly cancelled: Promise<void>;
  close(): void;
}

/** Services of the route groups, each with a treatment of its own, and one that no group names. */
export const SERVICES = {
  streaming: 'cloudidl.echo.EchoService',
  unary: 'cloudidl.usage.UsageService',
  admin: 'flyteidl.service.AdminService',
  open: 'flyteidl.service.AuthMetadataService',
  unknown: 'no.such.Service',
} as const;

/** A service by its treatment. */
export type ServiceKind = keyof typeof SERVICES;

const MESSAGE_MAX = 64 * 1024 * 1024;

/** Client of one of the services: a method for each kind of call, and one that is never answered. */
export interface EchoClient {
  once(message: string, metadata: Metadata, done: Done): ClientReadableStream<string>;
  wait(message: string, metadata: Metadata, done: Done): ClientReadableStream<string>;
  up(metadata: Metadata, done: Done): ClientWritableStream<string>;
  down(message: string, metadata: Metadata): ClientReadableStream<string>;
  both(metadata: Metadata): ClientDuplexStream<string, string>;
  close(): void;
}

type Done = (error: ServiceError | null, answer: string) => void;

/**
 * Opens a client.
 *
 * @param address - Host and port.
 * @param tls - The name to expect there, and the certificates (PEM) to believe.
 */
export function openClient(
  address: string,
  kind: ServiceKind,
  tls?: { readonly host: string; readonly ca: Buffer },
): EchoClient {
  const Client = makeGenericClientConstructor(definition(SERVICES[kind]), kind);
  const trust = tls === undefined ? credentials.createInsecure() : credentials.createSsl(tls.ca);
  const client: unknown = new Client(address, trust, {
    'grpc.max_receive_message_length': MESSAGE_MAX,
    ...(tls === undefined
      ? {}
      : { 'grpc.ssl_target_name_override': tls.host, 'grpc.default_authority': tls.host }),
  });
  return client as EchoClient;
}

/** Metadata from plain headers. */
export function metadataOf(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

/** Calls a unary method. @returns The answer, or the code it failed with. */
export function callOnce(
  client: EchoClient,
  headers: Readonly<Record<string, string>> = {},
  message = 'hello',
): Promise<string | number> {
  const { promise, resolve } = Promise.withResolvers<string | number>();
  client.once(message, metadataOf(headers), (error, answer) => resolve(error?.code ?? answer));
  return promise;
}

/** Reads a stream. @returns Its messages, then the code it ended with. */
export function readAll(stream: ClientReadableStream<string>): Promise<(string | number)[]> {
  const { promise, resolve } = Promise.withResolvers<(string | number)[]>();
  const received: (string | number)[] = [];
  stream.on('data', (message: string) => received.push(message));
  stream.on('error', () => {});
  stream.on('status', ({ code }) => resolve([...received, code]));
  return promise;
}

/** Starts the backend on a free port. */
export async function startGrpcBackend(): Promise<GrpcBackend> {
  const seen: SeenCall[] = [];
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
  const { promise: waiting, resolve: wait } = Promise.withResolvers<void>();
  const server = new Server({ 'grpc.max_receive_message_length': MESSAGE_MAX });
  for (const service of Object.values(SERVICES)) {
    const note = (
      call: Pick<ServerUnaryCall<string, string>, 'metadata' | 'getDeadline'>,
      method: string,
    ) => {
      const values = Object.entries(call.metadata.getMap());
      seen.push({
        path: `/${service}/${method}`,
        metadata: Object.fromEntries(values.map(([name, value]) => [name, String(value)])),
        deadline: Number(call.getDeadline()),
      });
    };
    server.addService(definition(service), {
      once(call: ServerUnaryCall<string, string>, done: sendUnaryData<string>) {
        note(call, 'Once');
        call.sendMetadata(metadataOf({ 'x-initial': 'first' }));
        done(null, call.request, metadataOf({ 'x-last': 'end' }));
      },
      wait(call: ServerUnaryCall<string, string>) {
        note(call, 'Wait');
        call.on('cancelled', cancel);
        wait();
      },
      up(call: ServerReadableStream<string, string>, done: sendUnaryData<string>) {
        note(call, 'Up');
        let whole = '';
        call.on('data', (message: string) => {
          whole += message;
        });
        call.on('end', () => done(null, whole));
      },
      down(call: ServerWritableStream<string, string>) {
        note(call, 'Down');
        call.write(call.request);
        call.write(call.request);
        call.end();
      },
      both(call: ServerDuplexStream<string, string>) {
        note(call, 'Both');
        call.on('data', (message: string) => call.write(message));
        call.on('end', () => call.end());
      },
    });
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    address: `127.0.0.1:${port}`,
    seen,
    waiting,
    cancelled,
    close: () => server.forceShutdown(),
  };
}

function definition(service: string): Record<string, MethodDefinition<string, string>> {
  const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
    path: `/${service}/${name}`,
    requestStream,
    responseStream,
    requestSerialize: encode,
    requestDeserialize: decode,
    responseSerialize: encode,
    responseDeserialize: decode,
  });
  return {
    once: method('Once', false, false),
    wait: method('Wait', false, false),
    up: method('Up', true, false),
    down: method('Down', false, true),
    both: method('Both', true, true),
  };
}

function encode(text: string): Buffer {
  return Buffer.from(text);
}

function decode(bytes: Buffer): string {
  return bytes.toString();
}
