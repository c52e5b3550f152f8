import { context, type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import { type Outcome, readableError } from "../../domain/index.ts";
import type { Phase } from "../tracer.ts";

export interface Telling {
  readonly describe: (error: unknown) => string;
  readonly isVerdict: (error: unknown) => boolean;
}

/** A phase as a span. An error is told in full where it was thrown; those around it say its name. */
export class SpanPhase implements Phase {
  readonly span: Span;
  readonly #telling: Telling;

  constructor(span: Span, telling: Telling) {
    this.span = span;
    this.#telling = telling;
  }

  within<T>(run: () => T): T {
    return context.with(trace.setSpan(context.active(), this.span), run);
  }

  end(came?: object): void {
    const outcome = outcomeIn(came);
    if (outcome !== undefined) this.tell(outcome);
    this.span.end();
  }

  fail(error: unknown): void {
    if (this.#telling.isVerdict(error)) this.span.setAttribute("oncehook.outcome", "rejected");
    else this.#error(error, nameOf(error));
    this.span.end();
  }

  tell(outcome: Outcome): void {
    this.span.setAttribute("oncehook.outcome", "code" in outcome ? outcome.code : outcome.ending);
    if (outcome.ending === "failed") this.#error(outcome.cause, outcome.code);
  }

  #error(error: unknown, type: string): void {
    if (!this.span.isRecording()) return;
    this.span.setAttribute("error.type", type);
    this.span.setStatus({ code: SpanStatusCode.ERROR });
    if (!isNew(error)) return;
    const text = this.#telling.describe(error);
    const [message = ""] = text.split("\n", 1);
    this.span.setStatus({ code: SpanStatusCode.ERROR, message });
    this.span.addEvent("exception", {
      "exception.type": nameOf(error),
      "exception.message": message,
      "exception.stacktrace": text,
    });
  }
}

const told = new WeakSet<WeakKey>();

/** Whether no span has told it yet. What is no object is told by each. */
function isNew(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return true;
  if (told.has(error)) return false;
  told.add(error);
  return true;
}

function nameOf(error: unknown): string {
  const readable = readableError(error);
  return readable instanceof Error && typeof readable.name === "string" ? readable.name : typeof error;
}

function outcomeIn(came: object | undefined): Outcome | undefined {
  if (came === undefined) return undefined;
  if ("ending" in came) return came as Outcome;
  return "outcome" in came ? (came.outcome as Outcome) : undefined;
}
