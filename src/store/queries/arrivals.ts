import { sql } from "kysely";
import type { AlertStore, Arrival, ArrivalKey, ArrivalSubject, SlotCount } from "../alert-store.ts";
import type { Access } from "./access.ts";

const COUNTS = "oncehook_arrivals";
const SUBJECTS = "oncehook_arrival_subjects";
/** So many slots of one subject are deleted at a time, so that no callback waits long for the writer. */
const STEP = 1_000;

/** The counts of `AlertStore`, in SQL that both databases speak. */
export function arrivalQueries(
  access: Access,
): Pick<AlertStore, "addArrivals" | "subjects" | "arrivals" | "forget"> {
  return {
    addArrivals: (slot, arrivals) => addArrivals(access, slot, arrivals),
    subjects: () => subjects(access),
    arrivals: (key, from, to) => arrivals(access, key, from, to),
    forget: (before) => forget(access, before),
  };
}

async function addArrivals({ transact }: Access, slot: number, added: readonly Arrival[]): Promise<void> {
  if (added.length === 0) return;
  // One order for all processes, so that no two of them wait for each other's rows.
  const sorted = added.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  await transact(async (query) => {
    await query
      .insertInto(SUBJECTS)
      .values(sorted.map(({ source, subject }) => ({ source, subject, first_slot: slot, last_slot: slot })))
      .onConflict((conflict) =>
        conflict.columns(["source", "subject"]).doUpdateSet({
          first_slot: sql`CASE WHEN excluded.first_slot < ${sql.ref(`${SUBJECTS}.first_slot`)}
            THEN excluded.first_slot ELSE ${sql.ref(`${SUBJECTS}.first_slot`)} END`,
          last_slot: sql`CASE WHEN excluded.last_slot > ${sql.ref(`${SUBJECTS}.last_slot`)}
            THEN excluded.last_slot ELSE ${sql.ref(`${SUBJECTS}.last_slot`)} END`,
        }),
      )
      .execute();
    await query
      .insertInto(COUNTS)
      .values(sorted.map(({ source, subject, count }) => ({ source, subject, slot, count })))
      .onConflict((conflict) =>
        conflict
          .columns(["source", "subject", "slot"])
          .doUpdateSet({ count: sql`${sql.ref(`${COUNTS}.count`)} + excluded.count` }),
      )
      .execute();
  });
}

const textOf = ({ source, subject }: ArrivalKey) => JSON.stringify([source, subject]);

async function subjects({ read }: Access): Promise<ArrivalSubject[]> {
  const rows = await read.selectFrom(SUBJECTS).selectAll().execute();
  return rows.map((row) => ({
    source: row.source,
    subject: row.subject,
    firstSlot: Number(row.first_slot),
    lastSlot: Number(row.last_slot),
  }));
}

async function arrivals(
  { read }: Access,
  { source, subject }: ArrivalKey,
  from: number,
  to: number,
): Promise<SlotCount[]> {
  const rows = await read
    .selectFrom(COUNTS)
    .select(["slot", "count"])
    .where("source", "=", source)
    .where("subject", "=", subject)
    .where("slot", ">=", from)
    .where("slot", "<", to)
    .execute();
  return rows.map((row) => ({ slot: Number(row.slot), count: Number(row.count) }));
}

/** The counts go first: a subject that is gone would leave them behind for ever. */
async function forget(access: Access, before: number): Promise<void> {
  for (const subject of await subjects(access)) {
    const { firstSlot } = subject;
    if (firstSlot >= before) continue;
    for (let from = firstSlot; from < before; from += STEP) {
      await forgetSlots(access, subject, from, Math.min(from + STEP, before));
    }
    await forgetSubject(access, subject, before);
  }
}

async function forgetSlots({ write }: Access, key: ArrivalKey, from: number, to: number): Promise<void> {
  await write
    .deleteFrom(COUNTS)
    .where("source", "=", key.source)
    .where("subject", "=", key.subject)
    .where("slot", ">=", from)
    .where("slot", "<", to)
    .execute();
}

/** Of what comes no more nothing is left, not even that it came. */
async function forgetSubject({ write }: Access, key: ArrivalKey, before: number): Promise<void> {
  await write
    .deleteFrom(SUBJECTS)
    .where("source", "=", key.source)
    .where("subject", "=", key.subject)
    .where("last_slot", "<", before)
    .execute();
  await write
    .updateTable(SUBJECTS)
    .set({ first_slot: before })
    .where("source", "=", key.source)
    .where("subject", "=", key.subject)
    .where("first_slot", "<", before)
    .execute();
}
