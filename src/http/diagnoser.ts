import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type Clock,
  createWindowLimit,
  type Diagnosis,
  type DiagnosisCode,
  type Log,
  type Outcome,
  type Refused,
} from "../domain/index.ts";
import { diagnose, type Expected, isDiagnosable } from "../sources/index.ts";
import { createTokenBucket, type TokenBucket } from "./admission.ts";
import type { RequestContext } from "./request-context.ts";

export interface DiagnoserDependencies {
  readonly expected: Expected;
  /** Scheme and host of the registered address. */
  readonly origin: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly diagnosed: (code: DiagnosisCode) => void;
  /** What this thread has used of a processor so far, in milliseconds. */
  readonly cpuTime?: () => number;
}

/** Finds out why callbacks were not authentic, beside the others, as far as the time allows. */
export interface Diagnoser {
  /**
   * Begins to look into an outcome, after this turn of the event loop, in which it is answered.
   * @returns undefined where there is nothing to look into, or no time; what resolves never rejects
   */
  start(request: RequestContext, outcome: Outcome): Promise<Diagnosis | undefined> | undefined;
}

const LONGEST_BODY = 65_536;
const DIAGNOSES_PER_SECOND = 10;
const BYTES_PER_SECOND = 131_072;
/** What diagnoses may take of each second, and how much of that is saved up for them. */
const CPU_MS_PER_SECOND = 20;
const MAX_CPU_MS = 400;
const MAX_WAITING = 20;
/** Whatever else is to be done comes between the slices of a diagnosis. */
const SLICE_MS = 1;
const WARN_EVERY_MS = 60_000;

/**
 * A flood of bad signatures finds little to use up: past so many a second, so many bytes, and so much time, nobody looks. The
 * answer is out before the first step, and the steps of all go one after the other, a millisecond in a turn of the event loop.
 */
export function createDiagnoser(deps: DiagnoserDependencies): Diagnoser {
  const { cpuTime = cpuTimeOfThread } = deps;
  const diagnoses = createTokenBucket(DIAGNOSES_PER_SECOND);
  const bytes = createTokenBucket(BYTES_PER_SECOND);
  const time = createTokenBucket(CPU_MS_PER_SECOND, MAX_CPU_MS);
  const report = createReporter(deps);
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function run(request: RequestContext, refusal: Refused): Promise<Diagnosis | undefined> {
    try {
      // Those before it in the queue may have used up the time meanwhile.
      if (!time.has(0)) return undefined;
      const diagnosis = await inSlices(stepsOf(request, refusal, deps), cpuTime, time);
      if (diagnosis !== undefined) report(diagnosis, request);
      return diagnosis;
    } catch (error) {
      deps.log.error(
        { err: error, request_id: request.requestId },
        "a refused callback could not be diagnosed",
      );
      return undefined;
    } finally {
      waiting -= 1;
    }
  }

  return {
    start(request, outcome) {
      if (outcome.kind !== "refused" || !isDiagnosable(outcome)) return undefined;
      const { length } = request.body;
      if (length > LONGEST_BODY || waiting >= MAX_WAITING) return undefined;
      if (!diagnoses.has(1) || !bytes.has(length) || !time.has(0)) return undefined;
      diagnoses.take(1);
      bytes.take(length);
      waiting += 1;
      const turn = last.then(() => run(request, outcome));
      last = turn;
      return turn;
    },
  };
}

function stepsOf(
  { message, method, url, body }: RequestContext,
  refusal: Refused,
  { expected, origin, clock }: DiagnoserDependencies,
): ReturnType<typeof diagnose> {
  const suspect = { headers: message.headersDistinct, body, method, url: origin + url };
  return diagnose(refusal, suspect, expected, clock.now());
}

/** What the slices take is paid for, and not what other callbacks do between them. */
async function inSlices<Result>(
  steps: Generator<undefined, Result>,
  cpuTime: () => number,
  time: TokenBucket,
): Promise<Result> {
  for (;;) {
    await nextTurn();
    const begin = cpuTime();
    const end = performance.now() + SLICE_MS;
    try {
      do {
        const { done, value } = steps.next();
        if (done === true) return value;
      } while (performance.now() < end);
    } finally {
      time.take(cpuTime() - begin);
    }
  }
}

/** Without what other processes did meanwhile, so that a busy machine loses no diagnoses. */
function cpuTimeOfThread(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Counts each diagnosis; the log is told once a minute of each code, with what to do. */
function createReporter({
  clock,
  log,
  diagnosed,
}: DiagnoserDependencies): (diagnosis: Diagnosis, of: RequestContext) => void {
  const told = new Map<DiagnosisCode, { isDue: (now: Date) => boolean; count: number }>();
  return ({ code, message, remedy: advice }, { requestId, address }) => {
    diagnosed(code);
    const since = told.get(code) ?? { isDue: createWindowLimit(1, WARN_EVERY_MS), count: 0 };
    told.set(code, since);
    since.count += 1;
    if (!since.isDue(clock.now())) return;
    const { count } = since;
    since.count = 0;
    const fields = { diagnosis: code, request_id: requestId, remote_address: address, count };
    log.warn(fields, `a callback was refused as not authentic: ${message} What to do: ${advice}`);
  };
}
