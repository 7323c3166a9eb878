/**
 * A service of each kind of call, without generated code, and its backend for every protocol.
 *
 * @module
 */

import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { create, toBinary } from '@bufbuild/protobuf';
import { fileDesc, type GenService, serviceDesc } from '@bufbuild/protobuf/codegenv2';
import {
  type BytesValueSchema,
  FileDescriptorProtoSchema,
  file_google_protobuf_wrappers,
} from '@bufbuild/protobuf/wkt';
import type { ServiceImpl } from '@connectrpc/connect';
import { compressionGzip, connectNodeAdapter } from '@connectrpc/connect-node';
import { AuthMetadataService } from '@sallyport/protocol/protobuf';
import { listenForTest } from './backends.ts';

interface Method<Kind> {
  methodKind: Kind;
  input: typeof BytesValueSchema;
  output: typeof BytesValueSchema;
}

/** Takes and gives bytes. */
export type EchoServiceDescriptor = GenService<{
  once: Method<'unary'>;
  down: Method<'server_streaming'>;
  up: Method<'client_streaming'>;
  both: Method<'bidi_streaming'>;
}>;

/** Under a name of the route groups: protected, served by `executions`. */
export const EchoService: EchoServiceDescriptor = describeService();

/** Serves {@link EchoService} and the metadata service in gRPC over HTTP/2, and in Connect and gRPC-Web over HTTP/1.1. */
export async function startRpcBackend(
  implementation: Partial<ServiceImpl<EchoServiceDescriptor>>,
): Promise<{ readonly http: string; readonly grpc: string; readonly calls: readonly string[] }> {
  const calls: string[] = [];
  const adapter = connectNodeAdapter({
    routes: (router) =>
      router
        .service(EchoService, implementation)
        .service(AuthMetadataService, { getPublicClientConfig: () => ({ clientId: 'cli' }) }),
    acceptCompression: [compressionGzip],
    interceptors: [
      (next) => (request) => {
        calls.push(request.method.name);
        return next(request);
      },
    ],
  });
  const http = createServer(adapter);
  const grpc = createHttp2Server(adapter);
  return { http: await listenForTest(http), grpc: await listenForTest(grpc), calls };
}

function describeService(): EchoServiceDescriptor {
  const type = '.google.protobuf.BytesValue';
  const method = (name: string, clientStreaming: boolean, serverStreaming: boolean) => ({
    name,
    inputType: type,
    outputType: type,
    clientStreaming,
    serverStreaming,
  });
  const file = create(FileDescriptorProtoSchema, {
    name: 'echo.proto',
    package: 'cloudidl.echo',
    syntax: 'proto3',
    dependency: ['google/protobuf/wrappers.proto'],
    service: [
      {
        name: 'EchoService',
        method: [
          method('Once', false, false),
          method('Down', false, true),
          method('Up', true, false),
          method('Both', true, true),
        ],
      },
    ],
  });
  const encoded = Buffer.from(toBinary(FileDescriptorProtoSchema, file)).toString('base64');
  return serviceDesc(fileDesc(encoded, [file_google_protobuf_wrappers]), 0);
}
