/**
 * A token endpoint in memory, on a test's clock, and services that ask it.
 *
 * @module
 */

import { SecretText } from '@sallyport/config';
import { createClientCredentialsGrant } from '../../../client/src/grants/client-credentials.ts';
import type { ClientSecretSource } from '../../../client/src/settings/client-settings.ts';
import {
  createServiceTokenSource,
  type ServiceTokenSource,
  type ServiceTokenSourceOptions,
} from '../../../client/src/source/create-service-token-source.ts';
import { createSeededRandom } from '../arbitraries/seeded-random.ts';
import { Clock } from '../time/clock.ts';
import { ClockTimers, settled } from '../time/clock-timers.ts';
import { KEY } from './tokens.ts';

/** One request that came. */
export interface TokenRequested {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The client secret in it. */
  readonly secret: string;
}

/** The endpoint; its fields are the switches of a test. */
export class TokenEndpoint {
  readonly #timers: ClockTimers;
  readonly #clock: Clock;
  readonly requests: TokenRequested[] = [];
  /** Client secrets that it accepts. */
  secrets: readonly string[] = ['one'];
  /** Absent: the answer has no `expires_in`. */
  lifetimeSeconds: number | undefined = 3_600;
  latencyMs = 200;
  /** `down`: no connection. `busy`: 503. `keycloak`: a wrong secret is answered as Keycloak does. */
  fault: 'down' | 'busy' | 'keycloak' | undefined;
  /** Requests a second that it answers; beyond it the answer is 429. */
  capacity: number = Number.POSITIVE_INFINITY;
  underWay = 0;
  mostUnderWay = 0;
  #issued = 0;

  constructor(clock: Clock, timers: ClockTimers) {
    this.#clock = clock;
    this.#timers = timers;
  }

  /** Bound, so that it can be passed on. */
  readonly fetch = async (_: unknown, init: RequestInit = {}): Promise<Response> => {
    const header = new Headers(init.headers).get('authorization') ?? '';
    const form = new URLSearchParams(typeof init.body === 'string' ? init.body : '');
    const pair = Buffer.from(header.replace('Basic ', ''), 'base64').toString();
    const secret = form.get('client_secret') ?? pair.slice(pair.indexOf(':') + 1);
    const at = this.#clock.now();
    this.requests.push({ at, secret });
    this.underWay += 1;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
    if (this.latencyMs > 0)
      await new Promise<void>((resolve) => this.#timers.schedule(this.latencyMs, resolve));
    this.underWay -= 1;
    if (this.fault === 'down') throw new TypeError('fetch failed');
    if (this.fault === 'busy') return new Response('', { status: 503 });
    const inSecond = this.requests.filter((one) => one.at > at - 1_000).length;
    if (inSecond > this.capacity) return new Response('', { status: 429 });
    if (!this.secrets.includes(secret))
      return Response.json(
        { error: this.fault === 'keycloak' ? 'unauthorized_client' : 'invalid_client' },
        { status: 401 },
      );
    this.#issued += 1;
    return Response.json({
      access_token: `access-${this.#issued}`,
      token_type: 'Bearer',
      ...(this.lifetimeSeconds === undefined ? {} : { expires_in: this.lifetimeSeconds }),
    });
  };

  /** Most requests within any second. */
  get mostInASecond(): number {
    const times = this.requests.map(({ at }) => at);
    let first = 0;
    return times.reduce((most, time, index) => {
      while (time - (times[first] ?? 0) >= 1_000) first += 1;
      return Math.max(most, index - first + 1);
    }, 0);
  }
}

/** What a test of services has under its hand. */
export interface ServiceWorld {
  readonly clock: Clock;
  readonly timers: ClockTimers;
  readonly endpoint: TokenEndpoint;
  /** What the services reported. */
  readonly outages: unknown[];
  /** Lets what was begun come as far as it can, then lets time pass. */
  advance(ms: number): Promise<void>;
  /** A service that asks with the client secret `one`, or that of a file. */
  create(
    more?: Partial<ServiceTokenSourceOptions>,
    clientSecret?: ClientSecretSource,
  ): ServiceTokenSource;
}

/** Sets it up: five minutes of window, no wait at the start, and renewals as early as the window says. */
export function setUpServices({ seed }: { readonly seed?: number } = {}): ServiceWorld {
  const clock = new Clock();
  const timers = new ClockTimers(clock);
  const endpoint = new TokenEndpoint(clock, timers);
  const outages: unknown[] = [];
  const random = seed === undefined ? () => 0 : createSeededRandom(seed);
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => timers.schedule(ms, resolve));
  return {
    clock,
    timers,
    endpoint,
    outages,
    async advance(ms) {
      await settled();
      await timers.advance(ms);
    },
    create(more = {}, clientSecret = { from: 'text', secret: new SecretText('one') }) {
      const grant = createClientCredentialsGrant(
        {
          tokenEndpoint: KEY.tokenEndpoint,
          clientId: 'service',
          clientSecret,
          scopes: ['all'],
          audience: '',
        },
        {
          fetch: endpoint.fetch,
          now: clock.now,
          wait,
          onWarning: () => undefined,
        },
      );
      return createServiceTokenSource({
        compose: async () => ({ key: KEY, grant }),
        now: clock.now,
        wait,
        refreshWindowMs: 300_000,
        schedule: timers.schedule,
        random,
        startSpreadMs: 0,
        onOutage: (failure) => outages.push(failure),
        ...more,
      });
    },
  };
}
