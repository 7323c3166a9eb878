/**
 * Answers of the webhook: reviews and probes.
 *
 * @module
 */

import {
  type AdmissionAnswer,
  answerAdmissionReview,
  type ReviewRefusal,
} from '@sallyport/kubernetes/admission';
import type { InjectionSettings } from '@sallyport/kubernetes/inject';
import { PATHS } from '@sallyport/protocol';
import type { HttpHandler, HttpRequest, HttpResponse } from '@sallyport/server/listener';
import { describeFailure, type Log } from '@sallyport/server/observe';
import { findJsonExcess, type JsonBounds } from './json-bounds.ts';
import { createBodyReader } from './request-body.ts';

/** Where the API server asks. */
export const REVIEW_PATH = '/inject';

/** What became of a request for a review. */
export type ReviewOutcome = AdmissionAnswer['outcome'] | 'malformed';

/** What {@link createWebhookHandler} needs. */
export interface WebhookOptions {
  readonly settings: InjectionSettings;
  /** Whether the process is stopping; then it says that it is not ready, and goes on answering. */
  readonly isDraining: () => boolean;
  /** Called once for each review. */
  readonly count: (outcome: ReviewOutcome) => void;
  readonly log: Log;
}

const SENTENCES: Readonly<Record<ReviewRefusal, string>> = {
  not_a_review: 'expected an AdmissionReview',
  version_unknown: 'expected apiVersion admission.k8s.io/v1',
  no_request: 'the review has no request',
  no_uid: 'the request has no uid',
};

/**
 * Creates the handler. Nothing that a request holds is logged, and no answer holds anything of it but its `uid` and places in
 * the pod.
 */
export function createWebhookHandler({
  settings,
  isDraining,
  count,
  log,
}: WebhookOptions): HttpHandler {
  const readBody = createBodyReader();
  return (req, res) => {
    // No fault in one answer may end the process that all pods wait for.
    answer(req, res).catch((cause: unknown) => {
      log('error', 'request_failed', { failure: describeFailure(cause) });
      if (res.headersSent) res.destroy();
      else refuse(res, 500, 'the webhook failed');
    });
  };

  async function answer(req: HttpRequest, res: HttpResponse): Promise<void> {
    const path = (req.url ?? '').split('?', 1)[0] ?? '';
    if (path === PATHS.healthz) return probe(req, res, 200, 'ok');
    if (path === PATHS.readyz)
      return isDraining() ? probe(req, res, 503, 'draining') : probe(req, res, 200, 'ready');
    if (path !== REVIEW_PATH) return refuse(res, 404, 'reviews are answered at /inject');
    if (req.method !== 'POST') return refuse(res, 405, 'a review is a POST', { allow: 'POST' });
    const body = await readBody(req);
    if (res.destroyed) return;
    if (!body.ok) {
      const [status, sentence] = BODY_ANSWERS[body.error];
      return malformed(res, status, sentence);
    }
    const excess = findJsonExcess(body.value, BOUNDS);
    if (excess !== undefined) return malformed(res, 413, EXCESS_SENTENCES[excess]);
    let review: unknown;
    try {
      review = JSON.parse(body.value.toString('utf8'));
    } catch {
      return malformed(res, 400, 'the body is no JSON');
    }
    const answered = answerAdmissionReview(review, settings);
    if (!answered.ok) return malformed(res, 400, SENTENCES[answered.error]);
    count(answered.value.outcome);
    send(res, 200, JSON.stringify(answered.value.review));
  }

  function malformed(res: HttpResponse, status: number, sentence: string): void {
    count('malformed');
    log('warn', 'review_refused', { detail: sentence });
    refuse(res, status, sentence);
  }
}

/** A pod nests some ten levels; one of 1.5 MiB has some 100,000 of the signs that are counted. */
const BOUNDS: JsonBounds = { depthMax: 64, tokensMax: 200_000 };
const EXCESS_SENTENCES = {
  too_deep: 'the review is nested deeper than 64 levels',
  too_many_values: 'the review has too many values',
} as const;

const BODY_ANSWERS = {
  too_large: [413, 'the review is larger than 4 MiB'],
  too_many: [503, 'too many reviews at once'],
  broken_off: [400, 'the body is not whole'],
} as const;

function probe(req: HttpRequest, res: HttpResponse, status: number, text: string): void {
  if (req.method === 'GET' || req.method === 'HEAD')
    send(res, status, JSON.stringify({ status: text }));
  else refuse(res, 405, 'this can only be read', { allow: 'GET, HEAD' });
}

function refuse(
  res: HttpResponse,
  status: number,
  sentence: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(res, status, JSON.stringify({ error: sentence }), headers);
}

function send(
  res: HttpResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = `${text}\n`;
  const all = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  };
  res.statusCode = status;
  for (const [name, value] of Object.entries(all)) res.setHeader(name, value);
  res.end(body);
}
