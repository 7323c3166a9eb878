/**
 * Blocks that every Terraform configuration of a setup has.
 *
 * @module
 */

import type { IdpApplication } from '../../spec/idp-spec.ts';
import { Expression, type HclBlock, type HclValue } from './hcl.ts';

/** Name of everything that is there once. */
export const NAME = 'sallyport';

/** Which provider of Terraform, and from which release on. */
export function requireProvider(name: string, source: string, version: string): HclBlock {
  return {
    type: 'terraform',
    attributes: {},
    blocks: [
      {
        type: 'required_providers',
        attributes: { [name]: new Expression(`{ source = "${source}", version = "${version}" }`) },
      },
    ],
  };
}

/** A resource. */
export function resource(
  type: string,
  name: string,
  attributes: HclBlock['attributes'],
  blocks: readonly HclBlock[] = [],
): HclBlock {
  return { type: 'resource', labels: [type, name], attributes, blocks };
}

/** An output; one that holds a secret is marked, so that Terraform does not print it. */
export function output(name: string, value: HclValue, isSecret: boolean): HclBlock {
  return {
    type: 'output',
    labels: [name],
    attributes: { value, ...(isSecret ? { sensitive: true } : {}) },
  };
}

/** Name of an application's resources: Terraform's names are narrower than client IDs. */
export function nameOf({ role }: IdpApplication, index: number): string {
  return role === 'service' && index > 0 ? `service_${index}` : role;
}

/** A reference to an attribute. */
export function reference(...path: readonly string[]): Expression {
  return new Expression(path.join('.'));
}
