/**
 * Suite: requests of many people at once, at every process and over every connection, are answered each
 * with the identity of its own session.
 *
 * @module
 */

import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { MovedClock } from '../wire/moved-clock.ts';
import { type AttackedDeployment, startAttackedDeployment } from './attacked-deployment.ts';
import type { AttackedFleetIdp } from './attacked-fleet-idp.ts';
import type { DeploymentUnderTest } from './deployment.ts';
import { type KeptConnection, keepConnection } from './kept-connection.ts';
import {
  ask,
  createDraw,
  createPerson,
  type Draw,
  findFault,
  type Person,
  signIn,
  signOut,
} from './many-people.ts';

const PEOPLE = 200;
/** Workers share the code, and one address: fewer meet as often. */
const PEOPLE_OF_WORKERS = 80;
/** What each of them does, one after the other. */
const STEPS = 4;
const CONNECTIONS = 4;
/** Of the clock; sessions are due after three, so that renewals are under way all the time. */
const STEP_MS = 8_000;
const ASKED_A_STEP = 60;

/** Registers the suite. */
export function testIdentity(under: DeploymentUnderTest): void {
  const peopleCount = under.hasWorkers === true ? PEOPLE_OF_WORKERS : PEOPLE;
  describe(`${peopleCount} people at once (${under.name})`, () => {
    let idp: AttackedFleetIdp;
    let clock: MovedClock;
    let deployment: AttackedDeployment;
    beforeAll(async () => {
      deployment = await startAttackedDeployment(under);
      ({ idp, clock } = deployment);
      // A process that has not heard of the last move yet must not get an id_token of the future.
      idp.attacker.now = () => clock.now() - STEP_MS;
    });
    afterAll(() => deployment.stop());

    /** Connections to every process, and the addresses of all. */
    const open = async () => {
      const connections: KeptConnection[] = [];
      const urls: string[] = [];
      onTestFinished(() => {
        for (const connection of connections) connection.close();
      });
      for (const index of deployment.indexes)
        await deployment.through(index, async (url) => {
          urls.push(url);
          for (let count = 0; count < CONNECTIONS; count += 1)
            connections.push(await keepConnection(url));
        });
      return { connections, urls };
    };

    it('signing in, asking, being renewed, signing out and signing others in: no answer carries another identity', async () => {
      const seed = Number(process.env['SESSIONS_SEED'] ?? randomInt(2 ** 31));
      const people = Array.from({ length: peopleCount }, (_, at) => createPerson(`person-${at}`));
      const { connections, urls } = await open();
      const faults: string[] = [];
      const admitted = new Map<string, number>();
      let spliced = 0;
      let asked = 0;
      let passing = Promise.resolve();

      const askAbout = async (person: Person, draw: Draw): Promise<void> => {
        const { sessions } = person;
        // Mostly the one that counts, at times one from before.
        const session = sessions.at(draw(6) === 0 ? draw(sessions.length) : -1);
        if (session === undefined) return;
        asked += 1;
        if (asked % ASKED_A_STEP === 0) passing = passing.then(() => clock.advance(STEP_MS));
        const connection = pick(connections, draw);
        const askedAt = performance.now();
        const answer = await ask(connection, session.cookie);
        const fault = findFault(session, answer, askedAt);
        if (fault !== undefined) faults.push(fault);
        else if (answer.status === 200)
          admitted.set(session.subject, (admitted.get(session.subject) ?? 0) + 1);
      };
      const askSpliced = async (person: Person, draw: Draw): Promise<void> => {
        const [own, other] = [person.sessions.at(-1), pick(people, draw).sessions.at(-1)];
        if (own === undefined || other === undefined || own === other) return;
        const [id] = own.cookie.split('.');
        const [, secret] = other.cookie.split('.');
        const { status } = await ask(pick(connections, draw), `${id}.${secret}`);
        if (status !== 401) faults.push(`an id with the secret of another session gets ${status}`);
        spliced += 1;
      };
      const someUrls = (draw: Draw) => ({ begin: pick(urls, draw), finish: pick(urls, draw) });
      const act = async (person: Person, draw: Draw): Promise<void> => {
        switch (draw(10)) {
          case 0:
            return signOut(person, idp, pick(urls, draw));
          case 1:
            return signIn(person, person.subject, idp, someUrls(draw));
          case 2:
            return signIn(person, pick(people, draw).subject, idp, someUrls(draw));
          case 3:
            return askSpliced(person, draw);
          default:
            return askAbout(person, draw);
        }
      };

      await Promise.all(
        people.map(async (person, at) => {
          const draw = createDraw(seed + at);
          await signIn(person, person.subject, idp, someUrls(draw));
          await askAbout(person, draw);
          for (let step = 0; step < STEPS; step += 1) {
            const asks = Array.from({ length: 1 + draw(3) }, () => askAbout(person, draw));
            await Promise.all([act(person, draw), ...asks]);
          }
        }),
      );
      // What was drawn above may be few.
      await Promise.all(people.map((person, at) => askSpliced(person, createDraw(seed - at - 1))));
      await passing;
      expect(faults, `SESSIONS_SEED=${seed}`).toEqual([]);
      // It was looked at indeed.
      expect(admitted.size).toBe(peopleCount);
      expect(spliced).toBeGreaterThan(peopleCount / 4);
      expect(deployment.log('session_renewed').length).toBeGreaterThan(peopleCount / 10);
    }, 120_000);

    it('an answer with the identity of another person is noticed', async () => {
      const { connections, urls } = await open();
      const [ada, grace] = [createPerson('ada'), createPerson('grace')];
      const [first = '', , last = ''] = urls;
      for (const person of [ada, grace])
        await signIn(person, person.subject, idp, { begin: first, finish: last });
      const [ofAda, ofGrace] = [ada.sessions.at(-1), grace.sessions.at(-1)];
      const [connection] = connections;
      if (ofAda === undefined || ofGrace === undefined || connection === undefined)
        throw new Error('not signed in');
      const now = performance.now();
      const answer = await ask(connection, ofAda.cookie);
      expect(findFault(ofAda, answer, now)).toBeUndefined();
      expect(findFault(ofGrace, answer, now)).toMatch(/^grace is taken for ada/);
      const body = answer.body.replaceAll('ada', 'grace');
      expect(findFault(ofGrace, { ...answer, body }, now)).toMatch(/^grace is taken for ada/);
      await signOut(ada, idp, first);
      expect(findFault(ofAda, answer, performance.now() + 1_001)).toMatch(/^ada is admitted/);
      expect(findFault(ofGrace, { ...answer, status: 401 }, now)).toMatch(/^grace is refused/);
    });
  });
}

function pick<T>(list: readonly T[], draw: Draw): T {
  const picked = list[draw(list.length)];
  if (picked === undefined) throw new RangeError('there is nothing to pick from');
  return picked;
}
