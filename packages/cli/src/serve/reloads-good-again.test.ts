import { BAD, begin, FIRST, HALF_FAILED, SECOND } from '@sallyport/testing/cli/reloads';
import { describe, expect, it } from 'vitest';

describe('A file that holds the configuration in effect again', () => {
  const AGAIN = { event: 'configuration_good_again', reason: 'file_changed' };

  it.each([
    ['could not be read', BAD],
    ['needs a restart', 'listen: {port: 9}'],
  ])('is reported once after one that %s, and nothing is done', (_, text) => {
    const { state, reloads, outcomes, applied } = begin();
    state.text = text;
    reloads.reload('file_changed');
    state.text = FIRST;
    reloads.reload('file_changed');
    reloads.reload('file_changed');
    expect(outcomes.slice(1)).toEqual([AGAIN]);
    expect(applied).toEqual([]);
  });

  it('is reported after each refusal anew', () => {
    const { state, reloads, outcomes } = begin();
    for (const text of [BAD, FIRST, BAD, BAD, FIRST]) {
      state.text = text;
      reloads.reload('file_changed');
    }
    expect(outcomes.map(({ event }) => event.replace('configuration_', ''))).toEqual([
      ...['refused', 'good_again', 'refused', 'refused', 'good_again'],
    ]);
  });

  it('by a signal is carried out, and only that is reported', async () => {
    const { state, reloads, outcomes, end } = begin();
    state.text = BAD;
    reloads.reload('file_changed');
    state.text = FIRST;
    reloads.reload('signal');
    await end(0);
    reloads.reload('file_changed');
    expect(outcomes.slice(1).map(({ event }) => event)).toEqual(['configuration_loaded']);
  });

  it('is not reported for one that is not in effect yet: its load is reported when it is', async () => {
    const { state, reloads, outcomes, end } = begin();
    state.text = SECOND;
    reloads.reload('file_changed');
    for (const text of [BAD, SECOND]) {
      state.text = text;
      reloads.reload('file_changed');
    }
    expect(outcomes.map(({ event }) => event)).toEqual(['configuration_refused']);
    await end(0);
    expect(outcomes.slice(1).map(({ event }) => event)).toEqual(['configuration_loaded']);
  });

  it('is reported with workers, too, after a roll that failed and was taken back', async () => {
    const { state, reloads, outcomes, applied, end, endRestore } = begin({ isRolling: true });
    state.text = SECOND;
    reloads.reload('file_changed');
    await end(0, HALF_FAILED);
    await endRestore(0);
    state.text = FIRST;
    reloads.reload('file_changed');
    expect(outcomes.slice(2)).toEqual([AGAIN]);
    expect(applied).toHaveLength(1);
  });
});
