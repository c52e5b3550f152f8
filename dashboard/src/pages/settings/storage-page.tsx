import { useQuery } from "@tanstack/react-query";
import type { StorageView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { bytesText, durationText } from "../../parts/amount.ts";
import { Facts } from "../../parts/facts.tsx";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";
import { useBackground } from "./use-background.ts";
import "./settings.css";

type Area = StorageView["areas"][number];
type Retention = StorageView["retention"];

const COUNT = new Intl.NumberFormat();
const PERCENT = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
const LABELS: Readonly<Record<Area["area"], string>> = {
  callbacks: "Callback log",
  originals: "Originals",
  records: "Records",
  failures: "Failures and attempts",
  notifications: "Notifications",
  replays: "Replays and backfills",
  statements: "Recorded statements",
  value_index: "Value index",
  audit: "Audit log and sessions",
  others: "Counts and settings",
};

/** The content of the database, how long it is kept, and when old rows were deleted last. */
export function StoragePage() {
  const storage = useQuery({ queryKey: ["storage"], queryFn: api.storage });
  return (
    <>
      <PageTitle title="Storage" />
      {storage.isPending && <Loading what="the sizes" />}
      {storage.isError && (
        <Problem error={storage.error} title="The sizes could not be read" again={() => void storage.refetch()} />
      )}
      {storage.data !== undefined && (
        <>
          <DatabaseFacts storage={storage.data} />
          <Areas storage={storage.data} />
          <Originals originals={storage.data.retention.originals} />
        </>
      )}
    </>
  );
}

function DatabaseFacts({ storage }: { readonly storage: StorageView }) {
  const { database, database_bytes, free_bytes, retention } = storage;
  const sweep = useBackground().data?.items.find(({ name }) => name === "retention");
  const free = free_bytes === null ? "" : `, ${bytesText(free_bytes)} of it free for new rows`;
  const last = sweep?.last_started_at ?? null;
  const next = sweep?.next_at ?? null;
  return (
    <Facts
      isShort
      of={[
        ["Database", database === "sqlite" ? "SQLite" : "PostgreSQL"],
        ["Size", `${bytesText(database_bytes)}${free}`],
        ["Refused callbacks", `at most ${bytesText(retention.refused_bytes)} of the log`],
        ["Last sweep", <Time key="last" at={last} relative />],
        ["Next sweep", <Time key="next" at={next} relative isAhead />],
      ]}
    />
  );
}

function Areas({ storage: { database, areas, retention } }: { readonly storage: StorageView }) {
  const all = Math.max(
    1,
    areas.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  const columns: readonly Column<Area>[] = [
    { head: "Area", cell: ({ area }) => LABELS[area] },
    { head: "Rows", cell: ({ rows }) => <span className="number">{COUNT.format(rows)}</span> },
    { head: "Size", cell: ({ bytes }) => <span className="number">{bytesText(bytes)}</span> },
    {
      head: "Share",
      cell: ({ bytes }) => (
        <span className="share-cell">
          <span className="share" aria-hidden="true">
            {bytes > 0 && <span style={{ width: `${(bytes / all) * 100}%` }} />}
          </span>
          <span className="number quiet">{PERCENT.format(bytes / all)}</span>
        </span>
      ),
    },
    { head: "Kept", cell: ({ area }) => <span className="quiet">{keptText(area, retention)}</span> },
  ];
  const sorted = areas.toSorted((one, other) => other.bytes - one.bytes);
  return (
    <section className="settings-group area-rows" aria-label="What is stored">
      <h2>What is stored</h2>
      <Rows
        caption="Stored rows by area, the largest first"
        columns={columns}
        rows={sorted}
        keyOf={({ area }) => area}
      />
      <p className="quiet">
        {database === "sqlite"
          ? "Many rows are estimated from a sample; sizes are of their content, without indexes."
          : "Rows are the server's estimates; sizes are on the disk, with indexes."}
      </p>
    </section>
  );
}

function keptText(area: Area["area"], { callbacks_ms, records_ms, audit_ms }: Retention): string {
  switch (area) {
    case "records":
      return records_ms === null ? "for ever" : durationText(records_ms);
    case "originals":
      return "by source, below";
    case "failures":
      return "until handled or discarded";
    case "audit":
      return durationText(audit_ms);
    case "value_index":
      return "as long as the callback log";
    case "others":
      return "–";
    default:
      return durationText(callbacks_ms);
  }
}

function Originals({ originals }: Pick<Retention, "originals">) {
  if (originals.length === 0) return null;
  return (
    <section className="settings-group settings-pairs" aria-label="Originals by source">
      <h2>Originals by source</h2>
      <Rows
        caption="How long each source keeps originals"
        columns={[
          { head: "Source", cell: ({ source }) => source },
          { head: "Kept", cell: ({ keep_ms }) => (keep_ms === 0 ? "not kept" : durationText(keep_ms)) },
        ]}
        rows={originals}
        keyOf={({ source }) => source}
      />
    </section>
  );
}
