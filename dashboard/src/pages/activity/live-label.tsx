import { Icon } from "../../parts/icon.tsx";
import type { Arrivals, LiveState } from "./use-activity.ts";

const LABELS: Readonly<Record<LiveState, string>> = {
  past: "Not live: the filters end in the past",
  found: "Not live: the results of a search",
  connecting: "Connecting…",
  live: "Live",
  lost: "Not live: the receiver refuses to send callbacks as they come",
};

export function LiveLabel({ state }: { readonly state: LiveState }) {
  return (
    <span className="live" role="status" data-state={state}>
      {LABELS[state]}
    </span>
  );
}

interface Props {
  readonly arrivals: Arrivals;
  readonly show: () => void;
}

/** New callbacks wait here until they are asked for: no row moves under the reader. */
export function NewPill({ arrivals: { held, isBehind }, show }: Props) {
  if (held.length === 0) return null;
  return (
    <button type="button" className="new-pill" onClick={show}>
      <Icon name="up" size={14} />
      {held.length}
      {isBehind && "+"} new
    </button>
  );
}
