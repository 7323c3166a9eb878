import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type InjectionSettings, injectApiKey } from './inject-api-key.ts';

const SETTINGS: InjectionSettings = {
  injectSecret: true,
  secretName: 'EAGER_API_KEY',
  podLabel: 'sallyport/inject-api-key',
  namespaceLabel: 'sallyport/api-key-injection',
};
const OPTED_IN = { 'sallyport/api-key-injection': 'true' };
const ENTRY = {
  name: 'EAGER_API_KEY',
  valueFrom: { secretKeyRef: { name: 'eager-api-key', key: 'EAGER_API_KEY', optional: false } },
};
const labels = { 'sallyport/inject-api-key': 'true' };

/** A selected pod with this `spec`. */
const podOf = (spec: unknown): Record<string, unknown> => ({ metadata: { labels }, spec });

/** What the function makes of a pod, whose type the hostile ones do not have. */
function inject<P extends object>(
  pod: P,
  settings = SETTINGS,
  namespace: object | null = OPTED_IN,
) {
  const result = injectApiKey(
    pod,
    (namespace ?? undefined) as Readonly<Record<string, string>> | undefined,
    settings,
  );
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

/** Makes a value that throws where something is written to it. */
function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) freeze(member);
    Object.freeze(value);
  }
  return value;
}

describe('A selected pod', () => {
  it('gets EAGER_API_KEY in containers, init containers and sidecars, and not in ephemeral ones', () => {
    const pod = freeze(
      podOf({
        initContainers: [
          { name: 'init', image: 'i' },
          { name: 'sidecar', restartPolicy: 'Always', env: [{ name: 'A', value: '1' }] },
        ],
        containers: [{ name: 'main', env: [] }, { name: 'second' }],
        ephemeralContainers: [{ name: 'debugger' }],
      }),
    );
    expect(inject(pod)).toEqual({
      outcome: 'injected',
      warnings: [],
      pod: podOf({
        initContainers: [
          { name: 'init', image: 'i', env: [ENTRY] },
          { name: 'sidecar', restartPolicy: 'Always', env: [{ name: 'A', value: '1' }, ENTRY] },
        ],
        containers: [
          { name: 'main', env: [ENTRY] },
          { name: 'second', env: [ENTRY] },
        ],
        ephemeralContainers: [{ name: 'debugger' }],
      }),
    });
  });

  it('gets it from the Secret and the key that secretName means', () => {
    const { pod } = inject(podOf({ containers: [{}] }), { ...SETTINGS, secretName: 'Team.KEY_2' });
    const secretKeyRef = { name: 'team.key-2', key: 'Team.KEY_2', optional: false };
    expect(pod['spec']).toEqual({
      containers: [{ env: [{ name: 'EAGER_API_KEY', valueFrom: { secretKeyRef } }] }],
    });
  });

  it.each(['EAGER_', 'a b', ''])('is refused when secretName is %j', (secretName) => {
    const pod = podOf({ containers: [{}] });
    expect(injectApiKey(pod, OPTED_IN, { ...SETTINGS, secretName })).toMatchObject({ ok: false });
  });

  it.each([
    ['a value', { value: 'canary-own' }],
    ['an empty value', { value: '' }],
    ['another Secret', { valueFrom: { secretKeyRef: { name: 'mine', key: 'EAGER_API_KEY' } } }],
    ['a ConfigMap', { valueFrom: { configMapKeyRef: { name: 'mine', key: 'k' } } }],
    [
      'the Secret, which may be missing',
      {
        valueFrom: {
          secretKeyRef: { name: 'eager-api-key', key: 'EAGER_API_KEY', optional: true },
        },
      },
    ],
    ['nothing', {}],
  ])('keeps %s of its own, with a warning that repeats none of it', (_, own) => {
    const pod = freeze(
      podOf({ containers: [{ env: [{ name: 'A' }, { name: 'EAGER_API_KEY', ...own }] }] }),
    );
    const injected = inject(pod);
    expect(injected.pod).toBe(pod);
    expect(injected).toMatchObject({
      outcome: 'unchanged',
      warnings: [{ reason: 'own_value_kept', path: 'spec.containers[0].env[1]' }],
    });
    expect(JSON.stringify(injected.warnings)).not.toContain('canary');
  });

  it.each([{ optional: false }, {}])(
    'that has the same reference (%j) is the same object, without a warning',
    (optional) => {
      const secretKeyRef = { name: 'eager-api-key', key: 'EAGER_API_KEY', ...optional };
      const pod = podOf({
        containers: [{ env: [{ name: 'EAGER_API_KEY', valueFrom: { secretKeyRef } }] }],
      });
      expect(inject(pod)).toEqual({ pod, outcome: 'unchanged', warnings: [] });
      expect(inject(pod).pod).toBe(pod);
    },
  );

  it('gets it beside a container that has one of its own', () => {
    const own = { name: 'own', env: [{ name: 'EAGER_API_KEY', value: 'x' }] };
    const { pod, outcome } = inject(podOf({ containers: [own, { name: 'main' }] }));
    expect(outcome).toBe('injected');
    expect(pod['spec']).toEqual({ containers: [own, { name: 'main', env: [ENTRY] }] });
  });

  it('is warned of a variable that clients read first', () => {
    const env = [{ name: '_UNION_EAGER_API_KEY', value: 'canary' }];
    expect(inject(podOf({ containers: [{ env }] }))).toMatchObject({
      outcome: 'injected',
      warnings: [{ reason: 'stronger_variable', path: 'spec.containers[0].env[0]' }],
    });
  });

  it.each([
    ['spec', podOf('none'), 'not_an_object', 'spec'],
    ['spec', podOf([]), 'not_an_object', 'spec'],
    ['containers', podOf({ containers: {} }), 'not_a_list', 'spec.containers'],
    ['container', podOf({ containers: [null] }), 'not_an_object', 'spec.containers[0]'],
    ['container', podOf({ initContainers: [7] }), 'not_an_object', 'spec.initContainers[0]'],
    ['env', podOf({ containers: [{ env: {} }] }), 'not_a_list', 'spec.containers[0].env'],
  ])('whose %s is none stays as it is, with a warning', (_, pod, reason, path) => {
    expect(inject(freeze(pod))).toEqual({
      pod,
      outcome: 'unchanged',
      warnings: [{ reason, path }],
    });
  });

  it('without containers stays as it is', () => {
    expect(inject(podOf({ containers: null }))).toMatchObject({ outcome: 'unchanged' });
  });

  it('with a thousand containers gets it in each', () => {
    const containers = Array.from({ length: 1_000 }, (_, index) => ({ name: `c${index}` }));
    const { pod } = inject(podOf({ containers }));
    const expected = containers.map((container) => ({ ...container, env: [ENTRY] }));
    expect(pod['spec']).toEqual({ containers: expected });
  });

  it('keeps a member named __proto__ as one, and gets nothing from it', () => {
    const text =
      '{"metadata":{"labels":{"sallyport/inject-api-key":"true"}},"__proto__":{"x":1},"spec":{"__proto__":{"containers":[]},"containers":[{"__proto__":{"env":[]},"name":"main"}]}}';
    const { pod } = inject(JSON.parse(text));
    expect(JSON.stringify(pod)).toBe(
      text.replace('"name":"main"', `"name":"main","env":[${JSON.stringify(ENTRY)}]`),
    );
  });
});

describe('What an object inherits is no part of a pod', () => {
  it('neither a variable of a container, which gets its own', () => {
    const inherited = { env: [{ name: 'EAGER_API_KEY', value: 'canary' }] };
    const main = Object.assign(Object.create(inherited) as object, { name: 'main' });
    const { pod, warnings } = inject(podOf({ containers: [main] }));
    expect(pod['spec']).toEqual({ containers: [{ name: 'main', env: [ENTRY] }] });
    expect(warnings).toEqual([]);
  });

  it('nor a label of a pod or a namespace', () => {
    const pod = { metadata: { labels: Object.create(labels) as object }, spec: {} };
    expect(inject(pod).outcome).toBe('pod_not_labelled');
    const namespace = Object.create(OPTED_IN) as object;
    expect(inject(podOf({}), SETTINGS, namespace).outcome).toBe('namespace_not_labelled');
  });
});

describe('What is not selected comes out as the same object', () => {
  const pod = freeze(podOf({ containers: [{}] }));

  it('with injectSecret false', () => {
    const off = inject(pod, { ...SETTINGS, injectSecret: false });
    expect([off.pod === pod, off.outcome]).toEqual([true, 'switched_off']);
  });

  it.each([
    ['no metadata', {}],
    ['metadata that is a list', { metadata: [] }],
    ['no labels', { metadata: {} }],
    ['labels that are text', { metadata: { labels: 'sallyport/inject-api-key' } }],
    ['another value', { metadata: { labels: { 'sallyport/inject-api-key': 'false' } } }],
    ['a boolean', { metadata: { labels: { 'sallyport/inject-api-key': true } } }],
    ['an annotation', { metadata: { annotations: labels } }],
  ])('a pod with %s', (_, { metadata }: { readonly metadata?: unknown }) => {
    const other = freeze({ metadata, spec: { containers: [{}] } });
    const left = inject(other);
    expect([left.pod === other, left.outcome]).toEqual([true, 'pod_not_labelled']);
  });

  it.each([
    ['without labels', null],
    ['with none', {}],
    ['that opted out', { 'sallyport/api-key-injection': 'false' }],
    ["with the pod's label", labels],
  ])('a pod in a namespace %s', (_, namespace) => {
    const left = inject(pod, SETTINGS, namespace);
    expect([left.pod === pod, left.outcome]).toEqual([true, 'namespace_not_labelled']);
  });

  it('a label that every object inherits selects nothing', () => {
    const settings = { ...SETTINGS, podLabel: 'constructor', namespaceLabel: 'constructor' };
    expect(inject(pod, settings, {}).outcome).toBe('pod_not_labelled');
  });

  it('the names of both labels are those of the settings', () => {
    const settings = { ...SETTINGS, podLabel: 'a.example/p', namespaceLabel: 'a.example/n' };
    const other = { metadata: { labels: { 'a.example/p': 'true' } }, spec: { containers: [{}] } };
    expect(inject(other, settings, { 'a.example/n': 'true' }).outcome).toBe('injected');
    expect(inject(pod, settings, OPTED_IN).outcome).toBe('pod_not_labelled');
  });
});

describe('Whatever a pod looks like', () => {
  const name = fc.oneof(
    fc.constantFrom('EAGER_API_KEY', '_UNION_EAGER_API_KEY', 'A', '__proto__', ''),
    fc.string(),
  );
  const junk = fc.jsonValue();
  const own = fc.record({ name, value: junk, valueFrom: junk }, { requiredKeys: [] });
  const env = fc.array(fc.oneof(own, fc.constant(ENTRY), junk), { maxLength: 5 });
  const container = fc.oneof(
    { weight: 4, arbitrary: fc.record({ env, name, __proto__: junk }, { requiredKeys: [] }) },
    { weight: 1, arbitrary: junk },
  );
  const containers = fc.oneof(fc.array(container, { maxLength: 5 }), junk);
  const spec = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record(
        { initContainers: containers, volumes: junk, containers, ephemeralContainers: containers },
        { requiredKeys: [] },
      ),
    },
    { weight: 1, arbitrary: junk },
  );
  /** As it comes from the wire: `__proto__` is a member like any other. */
  const pods = spec.map((value) => JSON.parse(JSON.stringify(podOf(value))) as object);

  /** A copy without what was added. */
  function withoutEntry(pod: object, before: object): unknown {
    const reduce = (after: unknown, earlier: unknown): unknown => {
      if (JSON.stringify(after) === JSON.stringify(earlier)) return earlier;
      if (Array.isArray(after) && Array.isArray(earlier))
        return after.length === earlier.length
          ? after.map((each, index) => reduce(each, earlier[index]))
          : after.slice(0, earlier.length);
      if (typeof after !== 'object' || typeof earlier !== 'object') return after;
      const known = Object.keys(earlier ?? {});
      return Object.fromEntries(
        Object.entries(after ?? {}).flatMap(([key, value]) =>
          known.includes(key)
            ? [[key, reduce(value, (earlier as Record<string, unknown>)[key])]]
            : [],
        ),
      );
    };
    return reduce(pod, before);
  }

  it('it never throws, changes nothing in place, and twice is the same as once', () => {
    fc.assert(
      fc.property(pods, (pod) => {
        const text = JSON.stringify(pod);
        const once = inject(freeze(pod));
        expect(JSON.stringify(pod)).toBe(text);
        const twice = inject(once.pod);
        expect(twice.pod).toBe(once.pod);
        expect(twice.outcome).toBe('unchanged');
        expect(twice.warnings).toEqual(once.warnings);
      }),
    );
  });

  it('it adds at the end of env alone: order and everything else stay', () => {
    fc.assert(
      fc.property(pods, (pod) => {
        const { pod: after, outcome } = inject(pod);
        expect(after === pod).toBe(outcome === 'unchanged');
        const added = JSON.stringify(after).length - JSON.stringify(pod).length;
        expect(added >= JSON.stringify(ENTRY).length).toBe(outcome === 'injected');
        expect(JSON.stringify(withoutEntry(after, pod))).toBe(JSON.stringify(pod));
      }),
    );
  });

  it('a container without the variable has it afterwards, exactly once', () => {
    const named = fc.record({ env: fc.array(own, { maxLength: 5 }) });
    fc.assert(
      fc.property(fc.array(named, { maxLength: 5 }), (list) => {
        const { spec: after } = inject(podOf({ containers: list })).pod as {
          readonly spec: { readonly containers: { readonly env: { readonly name?: string }[] }[] };
        };
        for (const [index, { env: before }] of list.entries()) {
          const count = before.filter((variable) => variable.name === 'EAGER_API_KEY').length;
          const now = after.containers[index]?.env.filter((each) => each.name === 'EAGER_API_KEY');
          expect(now).toHaveLength(Math.max(count, 1));
        }
      }),
    );
  });

  it('no labels and no namespace but the right ones change it', () => {
    fc.assert(
      fc.property(fc.dictionary(name, name), fc.dictionary(name, name), (own, namespace) => {
        const pod = { metadata: { labels: own }, spec: { containers: [{}] } };
        expect(inject(pod, SETTINGS, namespace).pod).toBe(pod);
      }),
    );
  });
});
