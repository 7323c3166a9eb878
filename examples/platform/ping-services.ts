/**
 * A method that each peer serves: who is calling, as the peer knows it.
 *
 * The services have the names of the platform's route table, so that calls take the platform's routes. The method is
 * this example's own.
 *
 * @module
 */

import { create, toBinary } from '@bufbuild/protobuf';
import { fileDesc, type GenService, serviceDesc } from '@bufbuild/protobuf/codegenv2';
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_wrappers,
  type StringValueSchema,
} from '@bufbuild/protobuf/wkt';
import type { PeerName } from './actors.ts';

/** Answers with the subject of the caller. */
export type PingService = GenService<{
  ping: {
    methodKind: 'unary';
    input: typeof StringValueSchema;
    output: typeof StringValueSchema;
  };
}>;

/** By peer. The admin service has a method of its own for this: `IdentityService/UserInfo`. */
export const PING_SERVICES: Readonly<Record<Exclude<PeerName, 'admin'>, PingService>> = {
  executions: describe('cloudidl.execution', 'ExecutionService'),
  cluster: describe('cloudidl.cluster', 'ClusterService'),
  usage: describe('cloudidl.usage', 'UsageService'),
};

function describe(pkg: string, name: string): PingService {
  const type = '.google.protobuf.StringValue';
  const file = create(FileDescriptorProtoSchema, {
    name: `${pkg}.proto`,
    package: pkg,
    syntax: 'proto3',
    dependency: ['google/protobuf/wrappers.proto'],
    service: [{ name, method: [{ name: 'Ping', inputType: type, outputType: type }] }],
  });
  const encoded = Buffer.from(toBinary(FileDescriptorProtoSchema, file)).toString('base64');
  return serviceDesc(fileDesc(encoded, [file_google_protobuf_wrappers]), 0);
}
