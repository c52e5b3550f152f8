import type { BackfillPreviewView, BackfillView } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { Facts } from "../../parts/facts.tsx";
import { COUNT } from "./problem-text.ts";

type Counts = Omit<BackfillPreviewView, "is_complete" | "sample"> | BackfillView;

/** Why events were not accepted, and the accepted ones by type; what is 0 is left out. */
export function BackfillCounts({ counts }: { readonly counts: Counts }) {
  const { accepted_by_type, already_taken, held_back, held_back_by_handler, ignored, erased, expired } = counts;
  const types = Object.entries(accepted_by_type);
  const former = Object.keys(held_back_by_handler).join(", ");
  const rest: readonly (readonly [name: string, count: number, note?: string])[] = [
    ["Already run", already_taken],
    ["Held back", held_back, `handled by ${former}, which no handler is called now`],
    ["Ignored", ignored, "no handler takes them, or the source filters them out"],
    ["Erased", erased],
    ["Expired", expired],
    ["Not readable", counts.unreadable],
  ];
  const facts = [
    ...types.map(([type, count]): [string, ReactNode] => [type, COUNT.format(count)]),
    ...rest.flatMap(([name, count, note]): [string, ReactNode][] =>
      count === 0 ? [] : [[name, note === undefined ? COUNT.format(count) : `${COUNT.format(count)}: ${note}`]],
    ),
  ];
  return facts.length === 0 ? null : <Facts isShort of={facts} />;
}
