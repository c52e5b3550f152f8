import { useQuery } from "@tanstack/react-query";
import { AUTHENTICITY, type CallbackView, sourceOf } from "oncehook/admin-client";
import { PageLink } from "../parts/page-link.tsx";
import { PROBLEM_LIST } from "../parts/problem-list.ts";
import { SourceLink } from "../parts/source-link.tsx";
import { Time } from "../parts/time.tsx";
import { useSources } from "../parts/use-sources.ts";

interface Props {
  readonly callback: CallbackView;
}

const NUMBER = new Intl.NumberFormat();

/** The source whose signature or token a callback did not have; undefined for every other callback. */
export function refusingSource({ outcome, source }: CallbackView): string | undefined {
  return AUTHENTICITY[outcome] === "refused" && source !== null && source !== "oauth"
    ? sourceOf({ source })
    : undefined;
}

/** Whether more of the source's callbacks are refused, and when its last authentic one came. */
export function RefusalContext({ callback }: Props) {
  const source = refusingSource(callback);
  const { data: problems } = useQuery({ ...PROBLEM_LIST, enabled: source !== undefined });
  const { data: sources } = useSources();
  if (source === undefined) return null;
  const problem = problems?.items.find(
    ({ kind, state, source: name }) => kind === "refusal" && state !== "resolved" && name === source,
  );
  if (problem !== undefined)
    return (
      <p>
        The last authentic callback of {source} came at <Time at={problem.since} relative />;{" "}
        <PageLink to="/problems/$id" params={{ id: problem.id }}>
          {NUMBER.format(problem.count)} {problem.count === 1 ? "was" : "were"} refused since
        </PageLink>
        .
      </p>
    );
  const secrets = sources?.items.find((one) => one.source === source)?.authentication.flatMap((one) => one.secrets);
  const verified = secrets?.flatMap(({ last_used_at: at }) => at ?? []).toSorted();
  const last = verified?.at(-1);
  // The uses of secrets are written in rounds, so that no second is shown.
  return last === undefined ? null : (
    <p>
      A secret of {source} verified last at <Time at={last} isShort relative />.
    </p>
  );
}

/** Leads to the secrets, to compare them. */
export function RefusalSteps({ callback }: Props) {
  const source = refusingSource(callback);
  if (source === undefined) return null;
  return (
    <SourceLink source={source} hash="secrets" className="action-link">
      Secrets of {source}
    </SourceLink>
  );
}
