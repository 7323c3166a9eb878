import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { injectApiKey } from '../inject/inject-api-key.ts';
import { answerAdmissionReview } from './answer-review.ts';
import type { PatchOperation } from './environment-patch.ts';

const SETTINGS = {
  injectSecret: true,
  secretName: 'EAGER_API_KEY',
  podLabel: 'sallyport/inject-api-key',
  namespaceLabel: 'sallyport/api-key-injection',
};
const ENTRY = {
  name: 'EAGER_API_KEY',
  valueFrom: { secretKeyRef: { name: 'eager-api-key', key: 'EAGER_API_KEY', optional: false } },
};
const UID = '0c052411-11be-4493-991a-ff77f09165eb';
const metadata = { labels: { 'sallyport/inject-api-key': 'true' }, generateName: 't-' };

/** As kube-apiserver 1.36.3 sends it; without a name, which the pod does not have yet. */
function reviewOf(object: unknown, more: object = {}) {
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: UID,
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      namespace: 'tasks',
      operation: 'CREATE',
      userInfo: { username: 'executor' },
      object,
      oldObject: null,
      dryRun: false,
      ...more,
    },
  };
}

interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patchType?: string;
  readonly patch?: string;
  readonly warnings?: readonly string[];
}

function answer(review: unknown, settings = SETTINGS) {
  const answered = answerAdmissionReview(review, settings);
  if (!answered.ok) throw new Error(answered.error);
  const { outcome, review: sent } = answered.value;
  const { response } = sent as { readonly response: Response };
  const patch = response.patch === undefined ? [] : JSON.parse(atob(response.patch));
  return { outcome, sent, response, patch: patch as readonly PatchOperation[] };
}

/** RFC 6902, as far as it is used: an `add` to an object or at the end of a list. */
function apply(pod: unknown, patch: readonly PatchOperation[]): unknown {
  const after = structuredClone(pod);
  for (const { path, value } of patch) {
    const names = path.slice(1).split('/');
    const last = names.pop() ?? '';
    let place = after as Record<string, unknown>;
    for (const name of names) place = place[name] as Record<string, unknown>;
    if (last === '-') (place as unknown as unknown[]).push(value);
    else place[last] = value;
  }
  return after;
}

describe('The review of a pod with the label', () => {
  it('is answered with a JSON patch that adds the API key to each container', () => {
    const pod = {
      metadata,
      spec: {
        initContainers: [{ name: 'i' }],
        containers: [{ name: 'main', env: [{ name: 'A', value: '1' }] }, { name: 'side' }],
      },
    };
    const { outcome, sent, response, patch } = answer(reviewOf(pod));
    expect(outcome).toBe('injected');
    expect(sent).toMatchObject({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' });
    expect(response).toMatchObject({ uid: UID, allowed: true, patchType: 'JSONPatch' });
    expect(response).not.toHaveProperty('warnings');
    expect(patch).toEqual([
      { op: 'add', path: '/spec/initContainers/0/env', value: [ENTRY] },
      { op: 'add', path: '/spec/containers/0/env/-', value: ENTRY },
      { op: 'add', path: '/spec/containers/1/env', value: [ENTRY] },
    ]);
  });

  it('has neither patch nor patch type when every container has the key', () => {
    const pod = { metadata, spec: { containers: [{ name: 'main', env: [ENTRY] }] } };
    const { outcome, response } = answer(reviewOf(pod));
    expect([outcome, response]).toEqual(['unchanged', { uid: UID, allowed: true }]);
  });

  it('warns of a value that stays, by its place and without the value', () => {
    const own = { name: 'EAGER_API_KEY', value: 'canary-7f3a' };
    const pod = { metadata, spec: { containers: [{ name: 'main', env: [own] }] } };
    const { outcome, response } = answer(reviewOf(pod));
    expect([outcome, response.warnings]).toEqual([
      'unchanged',
      [
        expect.stringMatching(
          /^spec\.containers\[0\]\.env\[0\]: an EAGER_API_KEY of its own stays/,
        ),
      ],
    ]);
    expect(JSON.stringify(response)).not.toContain('canary');
  });

  it('warns in no more than seventeen lines', () => {
    const own = { name: 'EAGER_API_KEY', value: 'x' };
    const containers = Array.from({ length: 40 }, () => ({ env: [own] }));
    const { warnings } = answer(reviewOf({ metadata, spec: { containers } })).response;
    expect(warnings).toHaveLength(17);
    expect(warnings?.at(-1)).toBe('24 more like these');
  });

  it('is answered the same in a dry run', () => {
    const pod = { metadata, spec: { containers: [{}] } };
    expect(answer(reviewOf(pod, { dryRun: true })).patch).toHaveLength(1);
  });

  it('describes with its patch what injectApiKey makes of the pod, whatever the pod', () => {
    const env = fc.option(
      fc.array(
        fc.record({ name: fc.constantFrom('A', 'EAGER_API_KEY', '_UNION_EAGER_API_KEY', 'B/~1') }),
        { maxLength: 3 },
      ),
      { nil: undefined },
    );
    const containers = fc.option(fc.array(fc.record({ name: fc.string(), env }), { maxLength: 3 }));
    fc.assert(
      fc.property(containers, containers, (inits, mains) => {
        const pod = { metadata, spec: { initContainers: inits, containers: mains } };
        const sent = JSON.parse(JSON.stringify(pod)) as object;
        const injected = injectApiKey(sent, { [SETTINGS.namespaceLabel]: 'true' }, SETTINGS);
        const { patch } = answer(reviewOf(sent));
        expect(apply(sent, patch)).toEqual(injected.ok && injected.value.pod);
      }),
    );
  });
});

describe('The review is answered without a change', () => {
  const pod = { metadata, spec: { containers: [{ name: 'main' }] } };
  it.each([
    ['of a pod without the label', reviewOf({ metadata: {}, spec: { containers: [{}] } })],
    ['of an update', reviewOf(pod, { operation: 'UPDATE' })],
    ['of ephemeral containers', reviewOf(pod, { subResource: 'ephemeralcontainers' })],
    [
      'of another resource',
      reviewOf(pod, { resource: { group: 'apps', version: 'v1', resource: 'deployments' } }),
    ],
    ['of a deletion, which has no object', reviewOf(null, { operation: 'DELETE' })],
  ])('%s', (_, review) => {
    const { outcome, response } = answer(review);
    expect([outcome, response]).toEqual(['not_selected', { uid: UID, allowed: true }]);
  });

  it('with injectSecret false', () => {
    const { outcome, response } = answer(reviewOf(pod), { ...SETTINGS, injectSecret: false });
    expect([outcome, response]).toEqual(['not_selected', { uid: UID, allowed: true }]);
  });
});

describe('A pod is refused', () => {
  it('when the settings name no Secret, instead of being admitted without a key', () => {
    const pod = { metadata, spec: { containers: [{}] } };
    const { outcome, response } = answer(reviewOf(pod), { ...SETTINGS, secretName: '-' });
    expect([outcome, response.allowed]).toEqual(['refused', false]);
  });
});

describe('The creation of something that no key can be injected into is refused, without its content', () => {
  const pod = (spec: unknown) => ({ metadata, spec });
  const CANARY = 'canary-7f3a';
  it.each([
    ['no object', null, 'the object'],
    ['an absent object', undefined, 'the object'],
    ['a list', [CANARY], 'the object'],
    ['a text', CANARY, 'the object'],
    ['a pod without a spec', { metadata }, 'spec: no object'],
    ['a spec that is a text', pod(CANARY), 'spec: no object'],
    ['a spec that is a list', pod([CANARY]), 'spec: no object'],
    [
      'containers that are an object',
      pod({ containers: { a: CANARY } }),
      'spec.containers: no list',
    ],
    [
      'a container that is a text',
      pod({ containers: [{}, CANARY] }),
      'spec.containers[1]: no object',
    ],
    [
      'an env that is no list',
      pod({ initContainers: [{ env: CANARY }], containers: [{}] }),
      'spec.initContainers[0].env: no list',
    ],
  ])('%s', (_, object, sentence) => {
    const { outcome, response } = answer(reviewOf(object));
    expect(outcome).toBe('refused');
    expect(response).toEqual({
      uid: UID,
      allowed: false,
      status: { code: 400, message: expect.stringContaining(sentence) },
    });
    expect(JSON.stringify(response)).not.toContain(CANARY);
  });

  it.each([
    ['where injectSecret is false', reviewOf(null), { ...SETTINGS, injectSecret: false }],
    ['in a pod without the label', reviewOf({ metadata: {}, spec: CANARY }), SETTINGS],
    ['at an update', reviewOf(null, { operation: 'UPDATE' }), SETTINGS],
  ])('but not %s', (_, review, settings) => {
    const { outcome, response } = answer(review, settings);
    expect([outcome, response]).toEqual(['not_selected', { uid: UID, allowed: true }]);
  });
});

describe('A body is no review', () => {
  const review = reviewOf({ metadata, spec: { containers: [{}] } });
  it.each([
    ['not_a_review', null],
    ['not_a_review', []],
    ['not_a_review', { ...review, kind: 'Pod' }],
    ['version_unknown', { ...review, apiVersion: 'admission.k8s.io/v1beta1' }],
    ['no_request', { ...review, request: undefined }],
    ['no_uid', reviewOf({}, { uid: undefined })],
    ['no_uid', reviewOf({}, { uid: '' })],
    ['no_uid', reviewOf({}, { uid: 'x'.repeat(257) })],
  ])('%s: %j', (reason, body) => {
    expect(answerAdmissionReview(body, SETTINGS)).toEqual({ ok: false, error: reason });
  });

  it('and whatever it is, the answer is one of these and never an exception', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (object, request) => {
        const selected = { metadata, spec: object };
        for (const body of [object, { ...review, request }, reviewOf(object), reviewOf(selected)])
          expect(typeof answerAdmissionReview(body, SETTINGS).ok).toBe('boolean');
      }),
    );
  });
});
