import { type Assembled, createOneRound } from "../app/index.ts";
import type { WorkDone, WorkOptions } from "./receiver.ts";

/** Also what a function may stay for after a response. */
const WORK_MS = 20_000;

/** The work of a process that runs only while it is called: `work()`, and what a response leaves to be done. */
export function createCalledWork(assembled: Assembled) {
  const { background, services } = assembled;
  const { events, concurrency, log } = services.receiver;
  const oneRound = createOneRound(assembled);
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let hasAccepted = false;
  events.on("accepted", () => {
    hasAccepted = true;
  });

  async function whileOpen<T>(work: (signal: AbortSignal) => Promise<T>, limits: readonly AbortSignal[]): Promise<T> {
    const working = work(AbortSignal.any([closing.signal, ...limits]));
    underWay.add(working);
    try {
      return await working;
    } finally {
      underWay.delete(working);
    }
  }

  async function runAccepted(signal: AbortSignal): Promise<void> {
    if (!hasAccepted || signal.aborted) return;
    hasAccepted = false;
    try {
      await background.runDue(signal);
      if (signal.aborted) hasAccepted = true;
    } catch (err) {
      hasAccepted = true;
      log.warn({ err }, "accepted events could not be run after a response; the next response or work() runs them");
    }
  }

  async function runAfterResponse(signal: AbortSignal): Promise<void> {
    await runAccepted(signal);
    // Answer mode `within`: a run goes on after its response. The next event of its order key waits for it.
    await untilEnded(concurrency, signal);
    await runAccepted(signal);
  }

  return {
    /** @throws RangeError for a budget that no timer can hold */
    work: ({ budgetMs = WORK_MS, signal }: WorkOptions): Promise<WorkDone> => {
      const limit = AbortSignal.timeout(parseBudget(budgetMs));
      return whileOpen(oneRound, signal === undefined ? [limit] : [limit, signal]);
    },
    /** Never rejects. */
    afterResponse: (): Promise<void> => whileOpen(runAfterResponse, [AbortSignal.timeout(WORK_MS)]),
    /** Begins nothing more, and waits for what is under way. */
    async close(): Promise<void> {
      closing.abort();
      await Promise.allSettled(underWay);
    },
  };
}

/** Node's timers fire at once beyond it. */
const MAX_BUDGET_MS = 2 ** 31 - 1;

/** Whole milliseconds: what is left of a deadline may be a fraction, or less than nothing. */
function parseBudget(budgetMs: number): number {
  if (Number.isFinite(budgetMs) && budgetMs <= MAX_BUDGET_MS) return Math.max(0, Math.trunc(budgetMs));
  throw new RangeError(`work: budgetMs is ${budgetMs}; expected milliseconds up to ${MAX_BUDGET_MS}, such as 20000`);
}

interface Concurrency {
  idle(): Promise<void>;
  outsideLimitEnded(): Promise<void>;
}

/** Resolves when no callback and no run is under way, or once `signal` aborts. */
async function untilEnded(concurrency: Concurrency, signal: AbortSignal): Promise<void> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) return;
  signal.addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([concurrency.idle().then(() => concurrency.outsideLimitEnded()), isOver]);
}
