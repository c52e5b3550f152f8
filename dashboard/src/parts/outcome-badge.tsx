import { outcomeTitle, toneOf } from "./outcome.ts";

/** The states of deliveries and work beside the outcomes of callbacks. */
const TONES = { delivered: "success", failed: "failed", waiting: "quiet", paused: "quiet" } as const;

/** How a delivery or a run ended, as a mark and a word. */
export function OutcomeBadge({ outcome }: { readonly outcome: string }) {
  const tone = outcome in TONES ? TONES[outcome as keyof typeof TONES] : toneOf(outcome);
  return (
    <span className="outcome" data-tone={tone}>
      {outcomeTitle(outcome)}
    </span>
  );
}
