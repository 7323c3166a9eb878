import type { PlannedStep } from '@sallyport/idp/provision';
import { SallyportError } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import { createStepRecord } from './step-record.ts';

const step = (name: string, action: PlannedStep['action'] = 'create'): PlannedStep => ({
  action,
  kind: 'client',
  name,
  fields: [],
});
const UNREACHABLE = new SallyportError('SP_IDP_UNREACHABLE', {
  component: 'keycloak',
  detail: 'https://kc does not answer',
});
const REFUSED = new SallyportError('SP_CONFIG_INVALID', { component: 'keycloak', detail: 'no' });

describe('A setup that does not come to its end', () => {
  it('says what was done, what was perhaps done, and what was not begun', () => {
    const record = createStepRecord();
    record.plan([step('a'), step('b'), step('c'), step('d', 'unchanged')]);
    record.onStep(step('a'), 'begun');
    record.onStep(step('a'), 'done');
    record.onStep(step('d'), 'done');
    record.onStep(step('b'), 'begun');
    expect(record.explain(UNREACHABLE, true)).toEqual({
      error: 'interrupted',
      description:
        'interrupted; done: client a; begun, and perhaps done: client b; not begun: client c',
      hint: 'Run the same command again: it continues from there.',
      exitCode: 130,
    });
    expect(record.explain(UNREACHABLE, false)).toMatchObject({
      error: 'SP_IDP_UNREACHABLE',
      description: expect.stringContaining('does not answer (SP_IDP_UNREACHABLE); done: client a;'),
      exitCode: 5,
    });
  });

  it.each([
    ['without a plan', []],
    ['before the first step', [step('a')]],
    ['where only what is unchanged was looked at', [step('a'), step('d', 'unchanged')]],
  ])('says that nothing was changed when it is interrupted %s', (_, steps) => {
    const record = createStepRecord();
    record.plan(steps);
    if (steps.length > 1) record.onStep(step('d'), 'done');
    const explained = record.explain(UNREACHABLE, true);
    expect([explained?.description, explained?.hint, explained?.exitCode]).toEqual([
      'interrupted; nothing was changed',
      '',
      130,
    ]);
    expect(record.explain(UNREACHABLE, false)).toBeUndefined();
  });

  it('adds nothing to an answer that refuses the first step', () => {
    const record = createStepRecord();
    record.plan([step('a')]);
    record.onStep(step('a'), 'begun');
    expect(record.explain(REFUSED, false)).toBeUndefined();
    expect(record.explain(UNREACHABLE, false)?.description).toContain('perhaps done: client a');
  });

  it('says of an answer that refuses a later step that this one is not done', () => {
    const record = createStepRecord();
    record.plan([step('a'), step('b')]);
    record.onStep(step('a'), 'begun');
    record.onStep(step('a'), 'done');
    record.onStep(step('b'), 'begun');
    expect(record.explain(REFUSED, false)?.description).toMatch(
      /; done: client a; begun, and not done to its end: client b$/,
    );
  });

  it('shows no control character of a name', () => {
    const record = createStepRecord();
    record.plan([step('a\u001b[31m')]);
    record.onStep(step('a\u001b[31m'), 'begun');
    expect(record.explain(UNREACHABLE, true)?.description).not.toContain('\u001b');
  });
});
