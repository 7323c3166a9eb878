/**
 * The Kubernetes Secret that holds an API key, as the injection into task pods expects it.
 *
 * @module
 */

import type { ApiKeySecret } from '@sallyport/protocol';
import { stringify } from 'yaml';

/** A manifest; it holds the API key. */
export interface SecretManifest {
  readonly apiVersion: 'v1';
  readonly kind: 'Secret';
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly type: 'Opaque';
  /** Plain text: an API key is base64 itself, and a second layer in `data` is the likeliest mistake. */
  readonly stringData: Readonly<Record<string, string>>;
}

/** Makes the manifest. Without a namespace, `kubectl apply` takes its own. */
export function createSecretManifest(
  apiKey: string,
  { name, key }: ApiKeySecret,
  namespace: string | undefined,
): SecretManifest {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    type: 'Opaque',
    stringData: { [key]: apiKey },
  };
}

/** Writes the manifest as YAML, with a line feed at the end. */
export function formatSecretManifest(manifest: SecretManifest): string {
  return stringify(manifest, { lineWidth: 0 });
}
