import type { CallbackLogRow, Outcome } from "../domain/index.ts";
import type { LeftOutCallback } from "../observe/index.ts";
import type { Reception } from "../receive/index.ts";
import type { Concluded } from "../trace/index.ts";
import { type Answer, answerTo } from "./answer.ts";
import type { Incoming } from "./incoming.ts";
import { logRow } from "./log-row.ts";
import type { PublicDeps } from "./public-deps.ts";
import { respond, respondInTurn } from "./respond.ts";

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
  const { mask, callbackLog, diagnosing, answered } = deps;
  const { challenge } = deps.source.scheme;

  function answerFor(request: Incoming, { outcome }: Reception, known: Known | undefined): Answer {
    const answer = answerTo(outcome, challenge);
    return known?.render?.(request, outcome, answer) ?? answer;
  }

  function rowFor(request: Incoming, reception: Reception, known: Known): CallbackLogRow {
    const answer = answerFor(request, reception, known);
    const processingMs = performance.now() - request.startedAt;
    return logRow(request, { source: known.source ?? null, reception, answer, processingMs }, mask);
  }

  /** After the answer: what is refused, or fails, costs its caller no waiting. */
  function write(request: Incoming, reception: Reception, answer: Answer, known: Known | undefined): void {
    const { outcome, eventId, bodyJson } = reception;
    const processingMs = performance.now() - request.startedAt;
    const options = { trace: request.phase?.ids, isJson: bodyJson !== undefined };
    if (outcome.ending === "success" && outcome.isRepeated !== true && known?.stored !== undefined) {
      callbackLog.line({ ...known.stored, processingMs }, options);
      return;
    }
    const ended = { source: known?.source ?? null, reception, answer, processingMs };
    if (outcome.ending === "success" || eventId !== undefined) {
      const row = logRow(request, ended, mask);
      callbackLog.line(row, options);
      callbackLog.add(row);
      return;
    }
    // A flood of refused requests is cheap: past the bound nothing is masked, parsed or written.
    const refused = leftOutOf(request, outcome);
    if (!callbackLog.admitRejected(refused)) return;
    callbackLog.addRefused({
      ...refused,
      body: request.body,
      trace: options.trace,
      diagnosis: diagnosing.begin(request, outcome),
      row: (sha256) => logRow(request, { ...ended, sha256 }, mask),
    });
  }

  function leftOutOf({ address, url }: Incoming, outcome: Outcome): LeftOutCallback {
    const name = "code" in outcome ? outcome.code : outcome.ending;
    return { outcome: name, remoteAddress: address, url: () => mask.url(url) };
  }

  return {
    rowFor,
    conclude(request, reception, known) {
      const answer = answerFor(request, reception, known);
      if (isAuthentic(reception)) respond(request, answer);
      else respondInTurn(request, answer);
      if (request.isCallback) {
        answered(reception, answer.status, performance.now() - request.startedAt, known?.source);
        write(request, reception, answer, known);
      } else callbackLog.leaveOut("unknown_address", leftOutOf(request, reception.outcome));
      request.phase?.answered(concluded(reception, answer.status, known?.source));
    },
  };
}

/** Without an event id a request was refused before it was known to be authentic, or says nothing. */
function isAuthentic({ outcome, eventId }: Reception): boolean {
  return eventId !== undefined || outcome.ending === "success";
}

function concluded(
  { outcome, eventId, eventType }: Reception,
  status: number,
  source: string | undefined,
): Concluded {
  return { status, outcome, source, eventId, eventType };
}
