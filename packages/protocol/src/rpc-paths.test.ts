import { describe, expect, it } from 'vitest';
import {
  AuthMetadataService,
  AuthMetadataService2,
  Health,
  IdentityService,
  IdentityService2,
} from './protobuf.ts';
import { HEALTH_PATHS, RPC_PATHS } from './rpc-paths.ts';

interface Service {
  readonly typeName: string;
  readonly methods: readonly { readonly name: string }[];
}

const pathsOf = (...services: readonly Service[]) =>
  services.flatMap(({ typeName, methods }) => methods.map(({ name }) => `/${typeName}/${name}`));

describe('The paths of the RPC methods', () => {
  it('are those of the services in proto/, and no others', () => {
    const services = [AuthMetadataService, AuthMetadataService2, IdentityService, IdentityService2];
    expect([...HEALTH_PATHS].toSorted()).toEqual(pathsOf(Health).toSorted());
    expect([...RPC_PATHS].toSorted()).toEqual(pathsOf(Health, ...services).toSorted());
  });
});
