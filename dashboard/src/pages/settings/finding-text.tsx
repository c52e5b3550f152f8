import type { ChecksView } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { outcomeLabel } from "../../parts/outcome.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { Time } from "../../parts/time.tsx";
import { useSources } from "../../parts/use-sources.ts";

type Finding = ChecksView["findings"][number];

const ADDRESS = String.raw`https?:\/\/[^\s,;]+[^\s,;:.]`;
const TIME = String.raw`\d{4}-\d\d-\d\d(?:T[\d:.]{8,12}Z| \d\d:\d\d UTC)`;
const CODE = String.raw`\([a-z]+(?:_[a-z]+)+\)`;
const LONG = String.raw`\b\d{4,} ms\b`;
const ANY = `\`[^\`]+\`|${ADDRESS}|${TIME}|${CODE}|${LONG}`;
const PARTS = new RegExp(`(${ANY})`);
const PART = new RegExp(`^(?:${ANY})$`);

const SECONDS = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

/** The finding, and on a line of its own its remedy. */
export function FindingText({ finding: { check, message, remedy } }: { readonly finding: Finding }) {
  const { data: sources } = useSources();
  if (remedy === undefined || !message.endsWith(remedy)) return <Text message={message} />;
  const source = sourceOfFinding(check, message);
  const [address] = sources?.items.find((one) => one.source === source)?.addresses ?? [];
  return (
    <>
      <Text message={message.slice(0, -remedy.length)} />
      <p className="check-remedy">
        <Text message={remedy} />
        {address !== undefined && (
          <>
            {" "}
            Endpoint URL: <code className="check-address">{address.url}</code>
          </>
        )}
      </p>
    </>
  );
}

/** A text of the command line as the page shows such values elsewhere: times, codes, durations and addresses. */
function Text({ message }: Pick<Finding, "message">) {
  let at = 0;
  return message.split(PARTS).map((text) => {
    const start = at;
    at += text.length;
    return PART.test(text) ? <Part key={start} part={text} /> : text;
  });
}

function Part({ part }: { readonly part: string }): ReactNode {
  if (part.startsWith("`")) return <code>{part.slice(1, -1)}</code>;
  if (part.startsWith("http")) return <code className="check-address">{part}</code>;
  if (part.startsWith("(")) return `(${outcomeLabel(part.slice(1, -1))})`;
  if (part.endsWith(" ms")) return `${SECONDS.format(Number(part.slice(0, -3)) / 1_000)} s`;
  const at = part.endsWith(" UTC") ? `${part.slice(0, 10)}T${part.slice(11, 16)}:00.000Z` : part;
  return <Time at={at} isShort />;
}

const OF_SOURCE = /^(\S+): \d+ callbacks refused|of source (\S+) among/;

function sourceOfFinding(check: string, message: string): string | undefined {
  const [, first, second] = (check === "refused" && OF_SOURCE.exec(message)) || [];
  return first ?? second;
}

/** Leads to the problem of a finding, where it is one of the page of problems. */
export function FindingLink({ finding: { level, check, message } }: { readonly finding: Finding }) {
  if (level === "ok") return null;
  if (check === "failures" || check === "notifications") {
    const kind = check === "failures" ? "failure" : "delivery";
    return (
      <PageLink to="/problems" search={{ kind }}>
        View problems
      </PageLink>
    );
  }
  const source = sourceOfFinding(check, message);
  if (source === undefined) return null;
  return (
    <PageLink to="/problems" search={{ kind: "refusal", source }}>
      View problem
    </PageLink>
  );
}
