import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { injectApiKey } from './inject-api-key.ts';
import { labelTaskPod } from './label-task-pod.ts';

const SETTINGS = {
  injectSecret: true,
  secretName: 'EAGER_API_KEY',
  podLabel: 'sallyport/inject-api-key',
  namespaceLabel: 'sallyport/api-key-injection',
};
const LABEL = { 'sallyport/inject-api-key': 'true' };

describe('Labelling a task pod', () => {
  it.each([
    [{}, { metadata: { labels: LABEL } }],
    [{ metadata: null }, { metadata: { labels: LABEL } }],
    [{ metadata: { name: 'a' } }, { metadata: { name: 'a', labels: LABEL } }],
    [{ metadata: { labels: null } }, { metadata: { labels: LABEL } }],
    [{ metadata: { labels: { a: 'b' } } }, { metadata: { labels: { a: 'b', ...LABEL } } }],
  ])('%j becomes %j', (pod, labelled) => {
    expect(labelTaskPod(pod, SETTINGS)).toEqual({
      ok: true,
      value: { pod: labelled, outcome: 'labelled' },
    });
  });

  it('a pod that is labelled is the same object', () => {
    const pod = { metadata: { labels: LABEL } };
    const again = labelTaskPod(pod, SETTINGS);
    expect(again).toEqual({ ok: true, value: { pod, outcome: 'unchanged' } });
    expect(again.ok && again.value.pod).toBe(pod);
  });

  it('a pod that its author keeps from the key stays as it is', () => {
    const pod = { metadata: { labels: { 'sallyport/inject-api-key': 'false' } } };
    const kept = labelTaskPod(pod, SETTINGS);
    expect(kept).toEqual({ ok: true, value: { pod, outcome: 'other_value_kept' } });
    expect(kept.ok && kept.value.pod).toBe(pod);
  });

  it.each([
    [{ metadata: [] }, 'metadata_not_an_object'],
    [{ metadata: 'a' }, 'metadata_not_an_object'],
    [{ metadata: { labels: ['a'] } }, 'labels_not_an_object'],
  ])('%j is refused: %s', (pod, error) => {
    expect(labelTaskPod(pod, SETTINGS)).toEqual({ ok: false, error });
  });

  it('whatever a pod looks like: it never throws, and what is labelled is selected', () => {
    const json = fc.jsonValue();
    const pods = fc.oneof(
      fc.dictionary(fc.string(), json),
      fc.record({ metadata: json }),
      fc.record({ metadata: fc.record({ labels: json, name: json }, { requiredKeys: [] }) }),
      fc.record({ metadata: fc.record({ labels: fc.dictionary(fc.string(), fc.string()) }) }),
    );
    fc.assert(
      fc.property(pods, (pod) => {
        const text = JSON.stringify(pod);
        const labelled = labelTaskPod<object>(pod, SETTINGS);
        expect(JSON.stringify(pod)).toBe(text);
        if (!labelled.ok) return;
        const task = { ...labelled.value.pod, spec: { containers: [{}] } };
        const injected = injectApiKey(task, { 'sallyport/api-key-injection': 'true' }, SETTINGS);
        expect(injected).toMatchObject({ ok: true, value: { outcome: 'injected' } });
      }),
    );
  });
});
