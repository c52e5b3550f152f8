import { splitFrames } from "oncehook/admin-client";
import { TextBlock } from "../../parts/text-block.tsx";
import { useFailures } from "./use-failures.ts";

/** The error of the newest failure, and the frames of the user's code. */
export function ProblemStack({ id }: { readonly id: string }) {
  const [newest] = useFailures(id).data ?? [];
  if (newest === undefined) return null;
  const { own, foreign } = splitFrames(newest.error);
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
