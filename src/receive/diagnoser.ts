import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type Clock,
  createWindowLimit,
  type Diagnosis,
  type DiagnosisCode,
  getOrMake,
  type Log,
  MINUTE_MS,
  type Outcome,
  PLATFORM,
  type Refused,
  sourceOf,
} from "../domain/index.ts";
import { type DiagnoseSource, isDiagnosable } from "../sources/index.ts";
import { TokenBucket } from "../system/index.ts";
import type { RequestContext } from "./request-context.ts";

export type Diagnoser = ReturnType<typeof createDiagnoser>;

/** Longer bodies have no diagnosis: each secret would hash all of them. */
const MAX_BODY_BYTES = 1_048_576;
const BYTES_PER_SECOND = 131_072;
/** The cost of a diagnosis beside the bytes of its body: ten small ones use up a second. */
const BASE_COST = 12_800;
const MAX_WAITING = 20;

/**
 * Finds out why callbacks were not authentic, as far as its budget allows. A flood of bad signatures uses up the bytes of each
 * second, and what exceeds them has no diagnosis. Each turn of the event loop runs one diagnosis, so that authentic callbacks
 * come between them.
 */
export function createDiagnoser(deps: {
  readonly platform: DiagnoseSource;
  /** The other sources, by their names. */
  readonly sources?: ReadonlyMap<string, DiagnoseSource>;
  readonly clock: Clock;
  readonly log: Log;
  readonly diagnosed: (source: string, code: DiagnosisCode) => void;
}) {
  const { platform, sources, clock, log, diagnosed } = deps;
  const budget = new TokenBucket(BYTES_PER_SECOND);
  const warnings = new Map<DiagnosisCode, { readonly isDue: (now: Date) => boolean; count: number }>();
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** Warns of each code once a minute. */
  function report({ code, message, remedy }: Diagnosis, { requestId, exchange }: RequestContext, source: string): void {
    diagnosed(source, code);
    const warning = getOrMake(warnings, code, () => ({ isDue: createWindowLimit(1, MINUTE_MS), count: 0 }));
    warning.count += 1;
    if (!warning.isDue(clock.now())) return;
    const { count } = warning;
    const fields = { diagnosis: code, request_id: requestId, remote_address: exchange.address, count };
    warning.count = 0;
    log.warn(fields, `a callback was refused as not authentic: ${message} What to do: ${remedy}`);
  }

  async function run(before: Promise<unknown>, context: RequestContext, refusal: Refused, source: string | null) {
    try {
      await before;
      await nextTurn();
      const { exchange, body, params } = context;
      const { method, target, distinctHeaders: headers } = exchange;
      const explain = sources?.get(source ?? "") ?? platform;
      const diagnosis = explain(refusal, { method, target, headers, body, params });
      // An OAuth redirect may be signed like the specification's platform signs.
      if (diagnosis !== undefined) report(diagnosis, context, sourceOf({ source: source ?? PLATFORM }));
      return diagnosis;
    } catch (error) {
      log.error({ err: error, request_id: context.requestId }, "a refused callback could not be diagnosed");
      return undefined;
    } finally {
      waiting -= 1;
    }
  }

  return {
    /**
     * Diagnoses an outcome in a later turn of the event loop, after its response.
     * @returns undefined where there is nothing to diagnose, or no budget; the promise never rejects
     */
    start(context: RequestContext, outcome: Outcome, source: string | null = null) {
      if (outcome.kind !== "refused" || !isDiagnosable(outcome)) return undefined;
      const { length } = context.body;
      // A body of more than a second's bytes takes a full budget. The next diagnosis waits until it is paid back.
      if (length > MAX_BODY_BYTES || waiting >= MAX_WAITING || !budget.take(BASE_COST + length)) return undefined;
      waiting += 1;
      const diagnosis = run(last, context, outcome, source);
      last = diagnosis;
      return diagnosis;
    },
  };
}
