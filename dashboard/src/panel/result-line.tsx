import { Anchor } from "@mantine/core";
import type { CallbackView, EventHistoryView, FailureView } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { outcomeLabel, type Tone, toneOf } from "../parts/outcome.ts";
import { plain } from "../parts/plain-message.ts";
import { TextBlock } from "../parts/text-block.tsx";
import { milliseconds, Time } from "../parts/time.tsx";
import { ownFramesFirst } from "./own-frames.ts";
import { RefusalContext } from "./refusal-steps.tsx";
import { undelivered, undeliveredText } from "./undelivered.ts";

interface Result {
  readonly tone: Tone;
  readonly sentence: ReactNode;
  /** The next step of the operator. */
  readonly remedy?: string;
  /** An error with its stack. */
  readonly error?: string;
}

interface Props {
  readonly callback: CallbackView | undefined;
  readonly history: EventHistoryView | undefined;
  /** Leads to the deliveries of its notifications. */
  readonly showDeliveries: () => void;
}

/** The state of the event in one sentence, before anything else; then what its channels did not take. */
export function ResultLine({ callback, history, showDeliveries }: Props) {
  const { tone, sentence, remedy, error } = resultOf(callback, history);
  return (
    <section className="result-line" data-tone={tone} aria-label="What happened">
      <p>{sentence}</p>
      {remedy !== undefined && <p className="remedy">{remedy}</p>}
      {callback !== undefined && <RefusalContext callback={callback} />}
      {undelivered(history?.notifications ?? []).map((one) => (
        <p key={one.channel} className="undelivered">
          <span className="outcome" data-tone={one.isFinal ? "failed" : "quiet"}>
            {undeliveredText(one)}.
          </span>{" "}
          <Anchor component="button" type="button" onClick={showDeliveries}>
            View deliveries
          </Anchor>
        </p>
      ))}
      {error !== undefined && (
        <details>
          <summary>{error.split("\n", 1)[0]}</summary>
          <TextBlock label="The error with its stack" text={ownFramesFirst(error)} />
        </details>
      )}
    </section>
  );
}

function resultOf(callback: CallbackView | undefined, history: EventHistoryView | undefined): Result {
  const failure = history?.failure ?? null;
  if (failure !== null) return failedResult(failure);
  if (history?.event?.status === "completed") {
    const { replays, event } = history;
    return replays.length > 0
      ? replayedResult(replays.length, event.processed_at)
      : handledResult(callback, event.processed_at);
  }
  if (callback === undefined) return { tone: "quiet", sentence: "This event has not been processed here." };
  return unhandledResult(callback);
}

function failedResult({ state, attempts, error, next_attempt_at, code }: FailureView): Result {
  const times = attempts === 1 ? "once" : `${attempts} times`;
  if (state === "accepted")
    return { tone: "quiet", sentence: "Accepted: the platform has its response, and the handler has not run yet." };
  if (state === "rejected")
    return { tone: "refused", sentence: `Rejected (${outcomeLabel(code)}): fix the cause and replay it.`, error };
  if (state === "exhausted")
    return { tone: "failed", sentence: `Failed ${times}. No automatic retry is left: replay or discard it.`, error };
  return {
    tone: "failed",
    sentence: (
      <>
        Failed {times}. The next retry is at <Time at={next_attempt_at} relative isAhead />.
      </>
    ),
    error,
  };
}

/** Its handler has run more than once, as an operator asked for. */
function replayedResult(replays: number, at: string | null): Result {
  const times = replays === 1 ? "once more" : `${replays} times more`;
  return {
    tone: "success",
    sentence: (
      <>
        Handled, and run again {times} by a replay, the last time at <Time at={at} />.
      </>
    ),
  };
}

function handledResult(callback: CallbackView | undefined, at: string | null): Result {
  const processed = <Time at={at} />;
  if (callback === undefined) return { tone: "success", sentence: <>Handled once, at {processed}.</> };
  const { outcome, processing_ms } = callback;
  if (outcome === "success") return { tone: "success", sentence: <>Handled once, in {milliseconds(processing_ms)}.</> };
  if (outcome === "already_processed")
    return { tone: "quiet", sentence: <>A duplicate: the event was handled at {processed}, and nothing ran again.</> };
  if (outcome === "accepted")
    return { tone: "success", sentence: <>Answered at once, and handled once, at {processed}.</> };
  return {
    tone: "success",
    sentence: (
      <>
        This callback ended as {outcomeLabel(outcome)}; handled since, at {processed}.
      </>
    ),
  };
}

function unhandledResult(callback: CallbackView): Result {
  const { outcome, response_status, diagnosis, error, event_type, processing_ms } = callback;
  const tone = toneOf(outcome, response_status);
  if (outcome === "ignored")
    return { tone, sentence: `Ignored: no handler is configured for ${event_type ?? "its type"}.` };
  if (outcome === "success") return { tone, sentence: <>Handled once, in {milliseconds(processing_ms)}.</> };
  if (outcome === "already_processed") return { tone, sentence: "A duplicate: nothing ran again." };
  if (tone === "quiet") return { tone, sentence: `Nothing was to be done: ${outcomeLabel(outcome)}.` };
  if (outcome === "accepted_failed") return { tone, sentence: "Failed after its response; the failure was discarded." };
  if (outcome === "accepted_rejected") return { tone, sentence: "Rejected after its response, and discarded." };
  const kind = tone === "failed" ? "Failed" : "Refused";
  if (diagnosis !== null && diagnosis !== undefined)
    return { tone, sentence: `${kind}: ${plain(diagnosis.message)}`, remedy: plain(diagnosis.remedy) };
  const [line = "", ...stack] = (error ?? "").split("\n");
  const reason = plain(line.replace(`${outcome}: `, "")) || outcomeLabel(outcome);
  const sentence = `${kind} with ${response_status}: ${reason}`;
  return stack.length === 0 ? { tone, sentence } : { tone, sentence, error: error ?? "" };
}
