import { Anchor } from "@mantine/core";
import { plain } from "../../parts/plain-message.ts";
import type { SourceView } from "../../views.ts";
import { Command } from "./command.tsx";

const PROOFS = {
  signs: "Tested with the platform's SDK, which signs.",
  verifies: "Tested with the platform's SDK, which verifies, or a published vector.",
  community: "Tested with a community library, since the platform has none, or a vector of one.",
  documented: "Written from the platform's documentation.",
  own: "Your own description.",
};

/** The steps at the platform and here; open until the first callback. */
export function SetupGuide({ source: described }: { readonly source: SourceView }) {
  const { source, about, setup, sample_type, activity, authenticated_by } = described;
  return (
    <section aria-labelledby="guide">
      <h2 id="guide">Setup</h2>
      <details open={activity.last_callback_at === null}>
        <summary>{about === null || about.proof === "own" ? "Guide" : `Guide for ${about.title}`}</summary>
        <ol className="setup">
          {setup.map((step) => (
            <li key={step}>{plain(step)}</li>
          ))}
          {sample_type !== null && (
            <li>
              Send a test callback:
              <Command text={`npx oncehook send --source ${source} ${sample_type}`} />
            </li>
          )}
        </ol>
        <p className="quiet">
          A callback is proven by {authenticated_by}.{" "}
          {about !== null && `Preset ${about.preset}. ${PROOFS[about.proof]} `}
          {about?.docs.startsWith("https://") && (
            <Anchor href={about.docs} target="_blank" rel="noreferrer" inherit underline="always">
              {about.title}: verification
            </Anchor>
          )}
        </p>
      </details>
    </section>
  );
}
