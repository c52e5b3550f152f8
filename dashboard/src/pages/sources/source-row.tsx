import { outcomeCounts, type SourceHealthView } from "oncehook/admin-client";
import { memo } from "react";
import { Figure } from "../../parts/figure.tsx";
import { LastCallback } from "../../parts/last-callback.tsx";
import { Cell, ListRow, type RowPlace } from "../../parts/row-list.tsx";
import { SourceLink } from "../../parts/source-link.tsx";
import { DeadlineShare, SourceState } from "../../parts/source-state.tsx";
import type { SecretsWord } from "./secrets-word.ts";

export const SOURCE_HEADS = [
  "Health",
  "Source",
  "Platform",
  "Handled",
  "Refused",
  "Failed",
  "p99 of deadline",
  "Last callback",
  "Secrets",
];

export interface ListedSource extends SourceHealthView {
  readonly id: string;
  /** Undefined until they are read. */
  readonly secrets: SecretsWord | undefined;
}

/** One source in one line: its last hour, and whether a secret can go. */
export const SourceRow = memo(function SourceRow({ of, index, top }: RowPlace & { readonly of: ListedSource }) {
  const { id, source, title, state, from, outcomes, secrets, p99_ms, deadline_ms, ...last } = of;
  const counts = outcomeCounts(outcomes);
  return (
    <ListRow id={id} index={index} top={top} className="source-row" isOpen={false}>
      <Cell name="state">
        <SourceState state={state} />
      </Cell>
      <Cell name="source">
        <SourceLink source={source} />
      </Cell>
      <Cell name="platform">{title ?? "Built-in protocol"}</Cell>
      {(["handled", "refused", "failed"] as const).map((outcome) => (
        <Cell key={outcome} name={outcome}>
          <Figure count={counts[outcome]} search={{ source, from, outcome }} label={`${outcome} of ${source}`} />
        </Cell>
      ))}
      <Cell name="p99">
        <DeadlineShare p99_ms={p99_ms} deadline_ms={deadline_ms} />
      </Cell>
      <Cell name="last">
        <LastCallback {...last} />
      </Cell>
      <Cell name="secrets">
        <span data-to-do={secrets?.isToDo ?? false}>{secrets?.text ?? "…"}</span>
      </Cell>
    </ListRow>
  );
});
