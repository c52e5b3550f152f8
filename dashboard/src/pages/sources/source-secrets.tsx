import { LastCallbackText } from "../../parts/last-callback.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time, useIsPast } from "../../parts/time.tsx";
import type { SourceView } from "../../views.ts";
import { counted, retryText } from "./retry-text.ts";
import { TenantSecrets } from "./tenant-secrets.tsx";

type Secret = SourceView["authentication"][number]["secrets"][number];

const OFFERED: readonly Column<SourceView["offered_secrets"][number]>[] = [
  { head: "Fingerprint", cell: ({ fingerprint }) => <code>{fingerprint}</code> },
  { head: "IP address", cell: ({ address }) => address },
  { head: "Times", cell: ({ count }) => count },
  { head: "Last", cell: ({ last_at }) => <Time at={last_at} isShort /> },
  { head: "Verifies", cell: ({ verifies }) => (verifies ? "yes" : "no") },
];

/** When each secret verified last, and which one can be deleted. */
export function SourceSecrets({ source: described }: { readonly source: SourceView }) {
  const { source, authentication, offered_secrets, has_tenant_secrets } = described;
  const secrets = authentication.flatMap((method) => method.secrets);
  return (
    <section aria-labelledby="secrets">
      <h2 id="secrets">Secrets</h2>
      {secrets.length === 0 && !has_tenant_secrets && (
        <p className="quiet">
          {offered_secrets.length > 0
            ? "None yet: the platform sends it."
            : "None here: the platform has keys of its own."}
        </p>
      )}
      <ul className="secrets" aria-label={`Secrets of ${source}`}>
        {secrets.map((secret) => (
          <li key={secret.name}>
            <span className="secret-name">{secret.name}</span>
            <span className="quiet">
              {secret.last_used_at === null ? "Not used yet" : <LastUse at={secret.last_used_at} />}
            </span>
            {secret.is_previous && <Advice secret={secret} source={described} />}
          </li>
        ))}
      </ul>
      {offered_secrets.length > 0 && (
        <Rows
          caption={`Secrets that were sent to ${source} in the last day`}
          columns={OFFERED}
          rows={offered_secrets}
          keyOf={({ fingerprint }) => fingerprint}
        />
      )}
      {has_tenant_secrets && <TenantSecrets source={source} />}
    </section>
  );
}

const NOTED_SECONDS = 60;

/** Uses are noted once a minute: the note stands for all of the minute after it. */
function LastUse({ at }: { readonly at: string }) {
  const isOver = useIsPast(Date.parse(at) + NOTED_SECONDS * 1_000);
  if (!isOver) return "Verified within the last minute";
  return (
    <>
      Last verified <LastCallbackText last_callback_at={at} last_callback_within_seconds={NOTED_SECONDS} />
    </>
  );
}

const DAY_MS = 86_400_000;

/** Whether a previous secret can be deleted, and why. */
function Advice({ secret, source: { about } }: { readonly secret: Secret; readonly source: SourceView }) {
  const { name, can_retire, unused_since, advice } = secret;
  if (!can_retire || unused_since === null)
    return (
      <span className="secret-advice">
        Keep it: <WithTimes text={(advice ?? "").replace(/^keep it; /, "")} />.
      </span>
    );
  const days = Math.floor((Date.now() - Date.parse(unused_since)) / DAY_MS);
  const retries = retryText(about?.retry_hours);
  const why = retries === undefined ? "" : `, ${about?.title} retries ${retries}`;
  return (
    <strong className="secret-advice" data-to-do>
      Delete {name}: unused for {counted(days, "day")}
      {retries === "none" ? `, ${about?.title} never retries` : why}.
    </strong>
  );
}

/** A text whose times are shown as all others are. */
function WithTimes({ text }: { readonly text: string }) {
  return text
    .split(/(\d{4}-\d{2}-\d{2}T[\d:.]{8,12}Z)/)
    .map((part, index) => (index % 2 === 1 ? <Time key={part} at={part} isShort /> : part));
}
