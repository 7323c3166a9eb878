import { describe, expect, it } from 'vitest';
import { countWorkers } from './count-workers.ts';

describe('countWorkers', () => {
  it.each([
    ['auto', 1, 1],
    ['auto', 4, 4],
    ['auto', 0, 1],
    ['auto', 192, 64],
    [1, 4, 1],
    [8, 4, 8],
  ] as const)('%s on %d processors is %d', (configured, processors, count) => {
    expect(countWorkers(configured, processors)).toBe(count);
  });
});
