import type { BulkReplayTrialView, HandledFilter } from "../admin-client/index.ts";
import { durationMs } from "../domain/index.ts";
import { counted, escapeControls, type Given } from "./output.ts";
import { UsageError } from "./user-error.ts";

export interface HandledOptions extends Given<"source" | "type" | "from" | "to" | "reason"> {
  readonly handled?: true;
  readonly force?: true;
}

/** Of `oncehook replay --handled`. @throws UsageError for one without a source, or a time that is none */
export function handledFilter({ source, type, from, to }: HandledOptions): HandledFilter {
  if (source === undefined)
    throw new UsageError("--source: missing; handled events are run again for one source, such as --source stripe");
  return {
    source,
    ...(type !== undefined && { event_type: type }),
    ...(from !== undefined && { from: timeOf("--from", from) }),
    ...(to !== undefined && { to: timeOf("--to", to) }),
  };
}

/** An age such as 1d, or a time in ISO 8601. */
function timeOf(option: string, text: string): string {
  const ageMs = durationMs(text);
  if (Number.isFinite(ageMs)) return new Date(Date.now() - ageMs).toISOString();
  if (/^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString();
  throw new UsageError(
    `${option}: got ${JSON.stringify(text)}, expected an age such as 1d, or a time such as 2026-03-04T12:00:00Z`,
  );
}

/** The dry run of the first event has to go well. One that is skipped says nothing of the others. */
export function mayStart({ first }: BulkReplayTrialView): boolean {
  const outcome = first?.replay?.outcome;
  return outcome === undefined || outcome === "success" || outcome === "rejected";
}

/** How the first ones went, where several were run. */
export function sampleLine({ sample: { run, skipped, failed } }: BulkReplayTrialView): string {
  if (run + skipped < 2) return "";
  const [first] = failed;
  const example =
    first === undefined ? "" : escapeControls(`, such as ${first.source}/${first.event_id}: ${first.reason}`);
  return `Of the first ${run + skipped}, ${run - failed.length} would succeed, ${skipped} be skipped, ${failed.length} fail${example}\n`;
}

export function noneHandled({ source, event_type, from, to }: HandledFilter): string {
  const type = event_type === undefined ? "" : ` of the type ${event_type}`;
  const time = from === undefined && to === undefined ? "" : " in that time";
  return `no event${type} of ${source} was handled${time}; \`oncehook events --source ${source}\` lists those that were`;
}

export function trialHead({ total, first }: BulkReplayTrialView): string {
  const events = counted(total, "handled event");
  if (first === null) return `${events}\n`;
  const skipped = first.skipped === null ? "" : `it would be skipped: ${first.skipped}\n`;
  return `${events}; the first one is ${first.source}/${first.event_id}\n${skipped}`;
}
