/**
 * Secrets that may not show in a sentence, for a process that sends new ones for months.
 *
 * @module
 */

/** Takes secrets out of texts. */
export interface RecentSecrets {
  readonly conceal: (secret: string) => void;
  readonly cleanse: (text: string) => string;
}

/** A request sends three at most; an answer that repeats one comes soon after it. */
const REMEMBERED_MAX = 64;
/** Shorter texts are words, and taking them out would only garble. */
const SECRET_MIN_LENGTH = 8;

/** Creates it. Remembers the latest secrets alone, so that it does not grow. */
export function createRecentSecrets(): RecentSecrets {
  const recent = new Set<string>();
  return {
    conceal(secret) {
      if (secret.length < SECRET_MIN_LENGTH) return;
      recent.delete(secret);
      recent.add(secret);
      const [oldest] = recent;
      if (recent.size > REMEMBERED_MAX && oldest !== undefined) recent.delete(oldest);
    },
    cleanse: (text) => [...recent].reduce((rest, each) => rest.replaceAll(each, '[secret]'), text),
  };
}
