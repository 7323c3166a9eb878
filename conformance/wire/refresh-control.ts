/**
 * What a test does to the refreshes that arrive at its IdP.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises';

/** Holds back whatever arrives, until it is opened. */
export interface Gate {
  /** Resolves when so many are held, or have been. */
  holds(count: number): Promise<void>;
  /** Lets all of them on, and those that come later. */
  open(): void;
}

/** What an IdP that stood still does with the requests it finds when it goes on. */
export type Waking =
  /** Carries out each, whether or not its client still waits. */
  | 'carries out'
  /** Ends the connection without having done anything. */
  | 'drops'
  /** Carries out each once, and sends its answer two times. */
  | 'answers twice';

/** An answer that the IdP has not given itself. */
export interface StandIn {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Decides over refreshes; each call replaces what was said before. */
export interface RefreshControl {
  /** As any IdP; also opens a gate that is still closed. */
  pass(): void;
  /**
   * Holds requests before the IdP sees them: no token is used up. One whose client gave up meanwhile
   * never reaches it.
   */
  hold(): Gate;
  /** Has the IdP stand still, as a process that is stopped, until the gate is opened. */
  freeze(waking: Waking): Gate;
  /** Lets the IdP answer and holds that: the token is used up, and the client does not know yet. */
  holdAnswers(): Gate;
  /** Lets the IdP answer and ends the connection instead: the token is used up, and the client never knows. */
  dropAnswers(times?: number): void;
  /** Ends the connection before the IdP sees the request. */
  reset(times?: number): void;
  /** Takes so long before the IdP sees the request; a real timer. */
  delay(ms: number): void;
  /**
   * Answers in place of the IdP, which does not see the request.
   *
   * @param body - JSON; `{"error":"server_error"}` when absent.
   */
  answer(
    status: number,
    more?: Partial<Omit<StandIn, 'status'>> & { readonly times?: number },
  ): void;
}

/** The two moments at which a refresh can be interfered with. */
export interface RefreshTreatment {
  /** Before the IdP sees it; `carry out` is done for a client that is gone, too. */
  before(): Promise<'pass' | 'carry out' | 'reset' | StandIn>;
  /** With the IdP's answer at hand. */
  after(): Promise<'pass' | 'drop' | 'twice'>;
}

type Rule = Partial<RefreshTreatment> & { readonly gate?: Gate };

/** Creates the control, and what the IdP's listener asks: once for each refresh. */
export function createRefreshControl(): {
  readonly control: RefreshControl;
  readonly treat: () => RefreshTreatment;
} {
  let rule: Rule = {};
  let left = Number.POSITIVE_INFINITY;

  const replace = (next: Rule, times = Number.POSITIVE_INFINITY): void => {
    const { gate } = rule;
    rule = next;
    left = times;
    gate?.open();
  };
  const closeGate = (use: (entered: () => Promise<void>) => RefreshTreatment | Rule): Gate => {
    const { gate, enter } = createGate();
    replace({ ...use(enter), gate });
    return gate;
  };

  return {
    control: {
      pass: () => replace({}),
      hold: () =>
        closeGate((enter) => ({
          async before() {
            await enter();
            return 'pass';
          },
        })),
      freeze: (waking) =>
        closeGate((enter) => ({
          async before() {
            await enter();
            return waking === 'drops' ? 'reset' : 'carry out';
          },
          after: async () => (waking === 'answers twice' ? 'twice' : 'pass'),
        })),
      holdAnswers: () =>
        closeGate((enter) => ({
          async after() {
            await enter();
            return 'pass';
          },
        })),
      dropAnswers: (times) => replace({ after: async () => 'drop' }, times),
      reset: (times) => replace({ before: async () => 'reset' }, times),
      delay: (ms) =>
        replace({
          async before() {
            await pause(ms);
            return 'pass';
          },
        }),
      answer(status, { times, headers = {}, body = '{"error":"server_error"}' } = {}) {
        replace({ before: async () => ({ status, headers, body }) }, times);
      },
    },
    treat() {
      const { before = async () => 'pass', after = async () => 'pass' } = left > 0 ? rule : {};
      left -= 1;
      return { before, after };
    },
  };
}

function createGate(): { readonly gate: Gate; readonly enter: () => Promise<void> } {
  const opened = Promise.withResolvers<void>();
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let entered = 0;
  return {
    gate: {
      holds: (count) =>
        new Promise((resolve) => {
          if (entered >= count) resolve();
          else waiting.push({ count, resolve });
        }),
      open: opened.resolve,
    },
    enter() {
      entered += 1;
      for (const { count, resolve } of waiting) if (entered >= count) resolve();
      return opened.promise;
    },
  };
}
