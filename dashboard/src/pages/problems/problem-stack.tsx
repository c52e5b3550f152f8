import { useQuery } from "@tanstack/react-query";
import { type FailureView, splitFrames } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { TextBlock } from "../../parts/text-block.tsx";
import { useFailures } from "./use-failures.ts";

/** The error of the newest failure, and the frames of the user's code. */
export function ProblemStack({ id }: { readonly id: string }) {
  const [newest] = useFailures(id).data ?? [];
  const error = useWholeError(newest);
  if (newest === undefined) return null;
  const { own, foreign } = splitFrames(error ?? newest.error);
  return (
    <section>
      <h3>
        Error of <code>{newest.event_id}</code>
      </h3>
      <TextBlock label="The error with its stack" text={own} />
      {foreign.length > 0 && (
        <details>
          <summary>{foreign.length} frames of packages</summary>
          <TextBlock label="Frames of packages" text={foreign.join("\n")} />
        </details>
      )}
    </section>
  );
}

/** The list has its first line. */
function useWholeError(failure: FailureView | undefined): string | undefined {
  const { source = "", event_id = "", last_failed_at } = failure ?? {};
  const history = useQuery({
    queryKey: ["problems", "error", source, event_id, last_failed_at],
    queryFn: () => api.events.get(source, event_id, { limit: 1 }),
    enabled: failure !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return history.data?.failure?.error;
}
