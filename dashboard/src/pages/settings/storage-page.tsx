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
const PERCENT = new Intl.NumberFormat(undefined, {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const LABELS: Readonly<Record<Area["area"], string>> = {
  callbacks: "Callback log",
  originals: "Originals",
  records: "Records",
  failures: "Failures",
  attempts: "Attempts",
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
  const { database, database_bytes, retention } = storage;
  const sweep = useBackground().data?.items.find(({ name }) => name === "retention");
  const last = sweep?.last_started_at ?? null;
  const next = sweep?.next_at ?? null;
  return (
    <Facts
      isShort
      of={[
        ["Database", database === "sqlite" ? "SQLite" : "PostgreSQL"],
        ["Size", bytesText(database_bytes)],
        ["Refused callbacks", `at most ${limitText(retention.refused_bytes)} of the log`],
        ["Last sweep", <Time key="last" at={last} relative />],
        ["Next sweep", <Time key="next" at={next} relative isAhead />],
      ]}
    />
  );
}

/** A row of the table: an area, or a part of the database that is none. */
interface Part {
  readonly name: string;
  /** Null where nothing of it is counted. */
  readonly entries: number | null;
  readonly bytes: number;
  readonly kept: string;
}

function Areas({ storage }: { readonly storage: StorageView }) {
  const { database, areas } = storage;
  const parts = partsOf(storage);
  const all = Math.max(1, bytesOf(parts));
  const total = { name: "Total", entries: null, bytes: bytesOf(parts), kept: "" };
  const isEstimated = areas.some(({ is_estimated }) => is_estimated);
  return (
    <section className="settings-group area-rows" aria-label="What is stored">
      <h2>What is stored</h2>
      <Rows
        caption="What is stored by area, the largest first"
        columns={columnsOf(all)}
        rows={[...parts, total]}
        keyOf={({ name }) => name}
      />
      {isEstimated && (
        <p className="quiet">
          {database === "sqlite"
            ? "Areas with more than 10,000 rows are estimated from a sample."
            : "Entries are the server's estimates; sizes are on the disk, with indexes."}
        </p>
      )}
    </section>
  );
}

const bytesOf = (of: readonly { readonly bytes: number }[]) => of.reduce((sum, { bytes }) => sum + bytes, 0);

/** The areas, the largest first, and the rest of the database, so that all of them are its size. */
function partsOf({ database, database_bytes, free_bytes, areas, retention }: StorageView): readonly Part[] {
  const sorted = areas
    .toSorted((one, other) => other.bytes - one.bytes)
    .map(({ area, ...part }) => ({ ...part, name: LABELS[area], kept: keptText(area, retention) }));
  const free = free_bytes ?? 0;
  const rest = Math.max(0, database_bytes - free - bytesOf(areas));
  const name = database === "sqlite" ? "Indexes and other tables" : "Other tables";
  return [
    ...sorted,
    { name, entries: null, bytes: rest, kept: "" },
    ...(free === 0 ? [] : [{ name: "Free for new rows", entries: null, bytes: free, kept: "" }]),
  ];
}

/** @param all the bytes of all parts */
function columnsOf(all: number): readonly Column<Part>[] {
  return [
    { head: "Area", cell: ({ name }) => name },
    {
      head: "Entries",
      cell: ({ entries }) => entries !== null && <span className="number">{COUNT.format(entries)}</span>,
    },
    { head: "Size", cell: ({ bytes }) => <span className="number">{bytesText(bytes)}</span> },
    {
      head: "Share",
      cell: ({ name, bytes }) =>
        name !== "Total" && (
          <span className="share-cell">
            <span className="share" aria-hidden="true">
              {bytes > 0 && <span style={{ width: `${(bytes / all) * 100}%` }} />}
            </span>
            <span className="number quiet">{shareText(bytes / all)}</span>
          </span>
        ),
    },
    { head: "Kept", cell: ({ kept }) => <span className="quiet">{kept}</span> },
  ];
}

const SMALLEST = 0.001;

function shareText(share: number): string {
  return share > 0 && share < SMALLEST ? `< ${PERCENT.format(SMALLEST)}` : PERCENT.format(share);
}

const MEBIBYTE = 1_048_576;

/** A limit that was set in MiB, in whole ones. */
function limitText(bytes: number): string {
  return bytes % MEBIBYTE === 0 ? `${COUNT.format(bytes / MEBIBYTE)} MiB` : bytesText(bytes);
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
      return "";
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
