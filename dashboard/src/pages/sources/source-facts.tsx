import { Anchor, Text } from "@mantine/core";
import { outcomeCounts } from "oncehook/admin-client";
import { Facts } from "../../parts/facts.tsx";
import { GROUPS } from "../../parts/outcome-groups.ts";
import { milliseconds, Time } from "../../parts/time.tsx";
import type { SourceView } from "../../views.ts";

const PROOFS = {
  signs: "Tested with the platform's SDK, which signs",
  verifies: "Tested with the platform's SDK, which verifies, or a published vector",
  community: "Tested with a community library, since the platform has none, or a vector of one",
  documented: "Written from the platform's documentation",
  own: "Your own description",
};
const UNKNOWN = "not documented";

/** The facts of a source's platform, and its answer mode. */
export function SourceFacts({ source }: { readonly source: SourceView }) {
  const { about, answer, event_types, unhandled } = source;
  const unhandledTypes = unhandled === "ignore" ? "others are ignored" : "others are refused";
  const shared = [
    ["Answer", answer.within_ms === null ? answer.mode : `within ${milliseconds(answer.within_ms)}`],
    ["Event types", `${event_types.length === 0 ? "none" : event_types.join(", ")}; ${unhandledTypes}`],
  ] as const;
  if (about === null) return <Facts of={shared} />;
  return (
    <>
      <Text>{about.instruction}</Text>
      <Facts
        of={[
          ["Platform", `${about.title} (preset ${about.preset})`],
          ["Proof", PROOFS[about.proof]],
          ["Documentation", <Docs key="docs" of={about.title} at={about.docs} />],
          ["Event key", about.identity],
          ["Deadline", about.deadline_seconds === null ? UNKNOWN : `${about.deadline_seconds} s`],
          ["Retries", retries(about.retry_hours)],
          ["Disables after", about.disables ?? UNKNOWN],
          ...shared,
        ]}
      />
    </>
  );
}

/** A source of your own names a file instead of an address. */
function Docs({ of, at }: { readonly of: string; readonly at: string }) {
  if (!at.startsWith("https://")) return at;
  return (
    <Anchor href={at} target="_blank" rel="noreferrer" underline="always" inherit>
      {of}: verification
    </Anchor>
  );
}

function retries(hours: number | null): string {
  if (hours === null) return UNKNOWN;
  return hours === 0 ? "none" : `for ${hours} h`;
}

/** The counts of a quarter-hour are kept together: the time is its start. */
function LastCallback({ at }: { readonly at: string }) {
  return (
    <>
      after <Time at={at} />
    </>
  );
}

/** The callbacks of the last 24 hours, and whether their responses were in time. */
export function SourceActivity({ source }: { readonly source: SourceView }) {
  const { last_callback_at, outcomes, p99_ms } = source.activity;
  const groups = outcomeCounts(outcomes);
  const deadline = source.about?.deadline_seconds ?? null;
  const isLate = deadline !== null && p99_ms !== null && p99_ms > deadline * 1_000;
  return (
    <>
      <h3>Last 24 hours</h3>
      {last_callback_at === null ? (
        <Text>No callback.</Text>
      ) : (
        <Facts
          of={[
            ["Last callback", <LastCallback key="last" at={last_callback_at} />],
            ...GROUPS.map(({ name, label }) => [label, groups[name]] as const),
            ["p99", deadline === null ? milliseconds(p99_ms) : `${milliseconds(p99_ms)} of ${deadline} s`],
          ]}
        />
      )}
      {isLate && (
        <Text role="status">p99 is past the deadline of {deadline} s: the platform sends such callbacks again.</Text>
      )}
    </>
  );
}
