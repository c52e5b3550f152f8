import { useQuery } from "@tanstack/react-query";
import { api } from "../../client.ts";
import { splitFrames } from "../../panel/own-frames.ts";
import { TextBlock } from "../../parts/text-block.tsx";

/** The error of the newest failure, and the frames of the user's code. */
export function ProblemStack({ id }: { readonly id: string }) {
  const { data } = useQuery({
    queryKey: ["problems", "stack", id],
    queryFn: async () => (await api.failures.list({ problem: id, limit: 1 })).items[0] ?? null,
  });
  if (data === undefined || data === null) return null;
  const { own, foreign } = splitFrames(data.error);
  return (
    <section>
      <h3>
        Error of <code>{data.event_id}</code>
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
