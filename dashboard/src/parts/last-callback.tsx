import type { SourceHealthView } from "oncehook/admin-client";
import { Time } from "./time.tsx";
import { timeParts, useTimeZone } from "./time-zone.tsx";

type Props = Pick<SourceHealthView, "last_callback_at" | "last_callback_within_seconds">;

const MINUTE_SECONDS = 60;
const MINUTE_MS = 60_000;

/** In a row, to the minute. Of a count of an earlier version only the quarter-hour is known. */
export function LastCallback({ last_callback_at: at, last_callback_within_seconds: seconds }: Props) {
  return (
    <>
      {(seconds ?? 0) > MINUTE_SECONDS && "about "}
      <Time at={at} isShort />
    </>
  );
}

/** In a sentence, behind "came": no second is shown where it is not known. */
export function LastCallbackText({ last_callback_at: at, last_callback_within_seconds: seconds }: Props) {
  const zone = useTimeZone();
  if (at === null || seconds === null || seconds === 0)
    return (
      <>
        at <Time at={at} relative />
      </>
    );
  // The second minute has no seconds: it must not lie before the end.
  const end = new Date(Math.ceil((Date.parse(at) + seconds * 1_000) / MINUTE_MS) * MINUTE_MS).toISOString();
  return (
    <>
      between <Time at={at} isShort /> and {timeParts(end, zone).clock.slice(0, 5)}
    </>
  );
}
