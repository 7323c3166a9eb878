import { describe, expect, it } from 'vitest';
import { findBreaches, readSourceFiles } from '../tools/rooms/find-breaches.ts';
import { ROOMS } from '../tools/rooms/room-table.ts';

const ROOT = new URL('..', import.meta.url).pathname;

describe.each(Object.entries(ROOMS))('Rooms of %s', (folder, rooms) => {
  const files = readSourceFiles(ROOT + folder);
  const [lowest = '', highest = ''] = [rooms[0], rooms.at(-1)];
  const planted = (room: string) => (room === '' ? 'planted.ts' : `${room}/planted.ts`);
  const breachesOf = (path: string, text: string) =>
    findBreaches(new Map([...files, [path, text]]), rooms);

  it('no import runs back up', () => {
    expect(findBreaches(files, rooms)).toEqual([]);
  });

  it('each room of the table holds a file', () => {
    const isHeld = (room: string) =>
      [...files.keys()].some((path) =>
        room === '' ? !path.includes('/') : path.startsWith(`${room}/`),
      );
    expect(rooms.filter((room) => !isHeld(room))).toEqual([]);
  });

  const up = lowest
    .split('/')
    .map(() => '..')
    .join('/');

  it.each([
    `import { planted } from '${up}/${planted(highest)}';`,
    `import {\n  planted,\n} from '${up}/${planted(highest)}';`,
    `import type { Planted } from '${up}/${planted(highest)}';`,
    `export { planted } from '${up}/${planted(highest)}';`,
    `import '${up}/${planted(highest)}';`,
    `const { planted } = await import('${up}/${planted(highest)}');`,
    `new Worker(new URL('${up}/${planted(highest)}', import.meta.url));`,
  ])('a breach planted in the lowest room is found: %s', (text) => {
    expect(breachesOf(planted(lowest), text)).toEqual([
      `${planted(lowest)} imports ${planted(highest)}, which is above it`,
    ]);
  });

  it('an import of the lowest room is none', () => {
    const text = `import { planted } from './${planted(lowest)}';`;
    expect(breachesOf('planted.ts', text)).toEqual([]);
  });

  it('a file outside every room is found', () => {
    expect(breachesOf('elsewhere/planted.ts', '')).toEqual([
      'elsewhere/planted.ts lies in no room of the table',
    ]);
  });
});

describe('A room inside another folder', () => {
  const rooms = ['session', 'audit', 'session/renewal'];
  const find = (path: string, imported: string) =>
    findBreaches(new Map([[path, `import { a } from '${imported}';`]]), rooms);

  it('may import what lies between the two', () => {
    expect(find('session/renewal/a.ts', '../../audit/a.ts')).toEqual([]);
    expect(find('session/renewal/a.ts', '../a.ts')).toEqual([]);
  });

  it('is above the folder that it lies in', () => {
    expect(find('session/a.ts', './renewal/a.ts')).toEqual([
      'session/a.ts imports session/renewal/a.ts, which is above it',
    ]);
    expect(find('session/local/a.ts', '../../audit/a.ts')).toHaveLength(1);
  });
});
