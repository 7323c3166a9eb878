import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDeploymentSpec,
  renderAuth0,
  renderEntra,
  renderOkta,
} from '../../packages/idp/src/provision/index.ts';
import { formatHcl, quoteHcl } from '../../packages/idp/src/provision/terraform/hcl.ts';
import { buildHclParser, GO, type HclParser, type ParsedBlock } from './hcl-parser.ts';

const PUBLIC_URL = 'https://platform.example.com';
/** Begins what Terraform evaluates. */
const OPEN = ['$', '{'].join('');
/** Every character that could end a text, or begin something that Terraform evaluates. */
const HOSTILE = `web"${OPEN}file('/etc/passwd')}%{if\`true\`}$${OPEN}x}\\`;
const spec = createDeploymentSpec(
  PUBLIC_URL,
  { web: HOSTILE, native: 'cli', service: 'service' },
  { furtherServices: ['sync', '../sync'] },
);

const only = (blocks: readonly ParsedBlock[], ...path: readonly string[]): ParsedBlock => {
  const [found, ...more] = blocks.filter(({ type, labels }) =>
    path.every((word, index) => [type, ...labels][index] === word),
  );
  if (found === undefined || more.length > 0) throw new Error(`not one ${path.join(' ')}`);
  return found;
};

describe.skipIf(GO.isLeftOut)('Terraform configurations, read by the parser of HashiCorp', () => {
  let parser: HclParser;
  beforeAll(async () => {
    parser = await buildHclParser();
  }, 300_000);
  afterAll(() => parser?.remove());

  it('any text is read back as it is, as a constant', async () => {
    const texts = fc.sample(fc.string({ unit: 'grapheme', maxLength: 40 }), 300);
    const all = [
      ...texts,
      HOSTILE,
      '${',
      '%{',
      `$${OPEN}`,
      `$$${OPEN}a}`,
      '%%%{a}',
      '\n\r\t\0\u001b',
      '${${',
    ];
    const attributes = Object.fromEntries(all.map((text, index) => [`a${index}`, text]));
    const [read] = await parser.parse(formatHcl([{ type: 'x', labels: [HOSTILE], attributes }]));
    expect(read?.labels).toEqual([HOSTILE]);
    // The language compares texts in their normal form.
    expect(read?.attributes).toEqual(
      Object.fromEntries(all.map((text, index) => [`a${index}`, text.normalize('NFC')])),
    );
  });

  it('a text that is not quoted is an expression, or no configuration at all', async () => {
    const [read] = await parser.parse(`x {\n  a = "${OPEN}file("/etc/passwd")}"\n}\n`);
    expect(read?.attributes['a']).toEqual({ expression: `"${OPEN}file("/etc/passwd")}"` });
    await expect(parser.parse('x {\n  a = "b"c"\n}\n')).rejects.toThrow('main.tf');
    expect(quoteHcl('${')).toBe('"$${"');
  });

  it('Okta: a custom authorization server with scope, access policy and rule, and the applications', async () => {
    const read = await parser.parse(renderOkta(spec));
    expect(only(read, 'resource', 'okta_auth_server').attributes).toMatchObject({
      audiences: [PUBLIC_URL],
    });
    expect(only(read, 'resource', 'okta_auth_server_scope').attributes).toMatchObject({
      name: 'all',
      consent: 'IMPLICIT',
    });
    expect(
      only(read, 'resource', 'okta_auth_server_policy').attributes['client_whitelist'],
    ).toEqual({
      expression:
        '[okta_app_oauth.web.client_id, okta_app_oauth.native.client_id, okta_app_oauth.service.client_id, okta_app_oauth.service_1.client_id, okta_app_oauth.service_2.client_id]',
    });
    expect(only(read, 'resource', 'okta_auth_server_policy_rule').attributes).toMatchObject({
      grant_type_whitelist: [
        'authorization_code',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
    });
    expect(only(read, 'resource', 'okta_app_oauth', 'web').attributes).toMatchObject({
      client_id: HOSTILE,
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: [`${PUBLIC_URL}/callback`],
      post_logout_redirect_uris: [`${PUBLIC_URL}/logout`],
    });
    expect(only(read, 'resource', 'okta_app_oauth', 'native').attributes).toMatchObject({
      token_endpoint_auth_method: 'none',
      pkce_required: true,
      consent_method: 'TRUSTED',
      grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
      redirect_uris: ['http://localhost:53593/callback'],
    });
    expect(only(read, 'resource', 'okta_app_oauth', 'service').attributes).toMatchObject({
      type: 'service',
      grant_types: ['client_credentials'],
    });
  });

  it('Auth0: an API for the public URL, its scope, the applications, and a grant for services alone', async () => {
    const read = await parser.parse(renderAuth0(spec));
    expect(only(read, 'resource', 'auth0_resource_server').attributes).toMatchObject({
      identifier: PUBLIC_URL,
    });
    expect(only(read, 'resource', 'auth0_client', 'web').attributes).toMatchObject({
      callbacks: [`${PUBLIC_URL}/callback`],
      allowed_logout_urls: [`${PUBLIC_URL}/logout`],
    });
    const grants = read.filter(({ labels: [type] }) => type === 'auth0_client_grant');
    expect(grants.map(({ labels }) => labels[1])).toEqual(['service', 'service_1', 'service_2']);
  });

  it('Entra: version 2 tokens, a delegated scope and an app role, and addresses of each kind', async () => {
    const read = await parser.parse(renderEntra(spec));
    const api = only(read, 'resource', 'azuread_application', 'api');
    expect(only(api.blocks, 'api').attributes).toEqual({ requested_access_token_version: 2 });
    expect(
      only(only(api.blocks, 'api').blocks, 'oauth2_permission_scope').attributes,
    ).toMatchObject({ value: 'all', type: 'User' });
    const native = only(read, 'resource', 'azuread_application', 'native');
    expect(native.attributes).toMatchObject({ fallback_public_client_enabled: true });
    expect(only(native.blocks, 'public_client').attributes).toEqual({
      redirect_uris: ['http://localhost:53593/callback'],
    });
  });

  it.each([
    ['Okta', renderOkta],
    ['Auth0', renderAuth0],
    ['Entra', renderEntra],
  ])('%s: every output that holds a secret is marked, and no other', async (_, render) => {
    const read = await parser.parse(render(spec));
    const outputs = read.filter(({ type }) => type === 'output');
    const isSecret = ({ labels: [name = ''] }: ParsedBlock) => name.endsWith('_client_secret');
    expect(outputs.filter(isSecret)).toHaveLength(4);
    for (const output of outputs)
      expect(output.attributes['sensitive']).toBe(isSecret(output) ? true : undefined);
  });
});
