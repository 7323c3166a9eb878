import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { honestManifests } from './faults/cluster.ts';
import { FAULTS } from './faults.ts';
import { type FaultyPlane, startFaultyPlane } from './faulty-plane.ts';

let plane: FaultyPlane;

beforeAll(async () => {
  plane = await startFaultyPlane();
});

afterEach(() => plane.mend());

afterAll(async () => {
  await plane.close();
});

describe('A plane that is well', () => {
  it('has no finding', async () => {
    const { ok, findings, probes } = await plane.examine();
    expect(findings).toEqual([]);
    expect(ok).toBe(true);
    expect(probes.length).toBeGreaterThan(40);
    const left = probes.filter(({ id, status }) => status !== 'ok' && !id.startsWith('machine.'));
    expect(left.map(({ id, why }) => `${id}: ${why}`)).toEqual([]);
  });
});

describe('A cluster that is well', () => {
  it('has no finding', async () => {
    const { findings, probes } = await plane.examine({ manifests: honestManifests(plane) });
    expect(findings).toEqual([]);
    const cluster = probes.filter(({ id }) => id.startsWith('cluster.'));
    expect(cluster.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
  });
});

describe('One fault', () => {
  it.each(FAULTS)('$fault: the first finding is $cause', async ({ cause, probe, make }) => {
    const { findings, text } = await plane.examine(await make(plane));
    const [first] = findings;
    expect(`${first?.code}: ${first?.what} ${first?.evidence.join(' ')}`).toMatch(
      new RegExp(`^${cause}: `),
    );
    if (probe !== undefined) expect(first?.probe).toBe(probe);
    for (const secret of [plane.webSecret, plane.serviceSecret]) expect(text).not.toContain(secret);
  });
});
