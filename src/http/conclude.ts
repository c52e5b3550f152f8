import type { CallbackLogRow, Outcome } from "../domain/index.ts";
import type { Reception } from "../receive/index.ts";
import type { Concluded } from "../trace/index.ts";
import { type Answer, answerTo } from "./answer.ts";
import type { Incoming } from "./incoming.ts";
import { logRow } from "./log-row.ts";
import type { PublicDeps } from "./public-deps.ts";
import { respond } from "./respond.ts";

/** Phases (g) and (h) of SPEC 1.7: log, and answer. Every request on the public listener ends here. */
export interface Concluder {
  rowFor(request: Incoming, reception: Reception, known: Known): CallbackLogRow;
  conclude(request: Incoming, reception: Reception, known?: Known): void;
}

/** Turns the answer into the one that this caller understands. */
export type Render = (request: Incoming, outcome: Outcome, answer: Answer) => Answer;

interface Known {
  readonly source?: string;
  /** The row that committed with a success, so that it is not logged twice. */
  readonly stored?: CallbackLogRow | undefined;
  readonly render?: Render;
}

export function createConcluder(deps: PublicDeps): Concluder {
  const { mask, callbackLog, diagnosing, answered, clock, log } = deps;
  const { challenge } = deps.source.scheme;

  function answerFor(request: Incoming, { outcome }: Reception, known: Known | undefined): Answer {
    const answer = answerTo(outcome, challenge);
    return known?.render?.(request, outcome, answer) ?? answer;
  }

  function rowFor(request: Incoming, reception: Reception, known: Known): CallbackLogRow {
    const answer = answerFor(request, reception, known);
    return logRow(request, known.source ?? null, reception, answer, mask);
  }

  function write(request: Incoming, reception: Reception, answer: Answer, known: Known | undefined): void {
    const { outcome } = reception;
    if (outcome.ending === "success" && outcome.isRepeated !== true && known?.stored !== undefined) {
      const row = { ...known.stored, processingMs: performance.now() - request.startedAt };
      callbackLog.line(row, request.phase?.ids);
      return;
    }
    // A flood of refused requests is cheap: past the bound nothing is masked, parsed or written.
    const isStranger = reception.outcome.ending !== "success" && reception.eventId === undefined;
    if (isStranger && !callbackLog.admitRejected(clock.now())) return;
    const row = logRow(request, known?.source ?? null, reception, answer, mask);
    callbackLog.line(row, request.phase?.ids);
    callbackLog.add(row, diagnosing.begin(request, outcome));
  }

  return {
    rowFor,
    conclude(request, reception, known) {
      const answer = answerFor(request, reception, known);
      if (request.isCallback) {
        answered(reception, answer.status, performance.now() - request.startedAt, known?.source);
        write(request, reception, answer, known);
      } else {
        log.debug({ url: mask.url(request.url), status: answer.status }, "not a callback's address");
      }
      respond(request, answer);
      request.phase?.answered(concluded(reception, answer.status, known?.source));
    },
  };
}

function concluded(
  { outcome, eventId, eventType }: Reception,
  status: number,
  source: string | undefined,
): Concluded {
  return { status, outcome, source, eventId, eventType };
}
