import type { Revived } from "../outbox-store.ts";
import type { Access } from "./access.ts";
import { unleased } from "./unleased.ts";

const DELIVERIES = "oncehook_deliveries";

/** Dead deliveries of channels that nobody serves any more stay dead: made due, they would wait for ever. */
export async function revive(
  { write, read }: Access,
  notificationId: number,
  channels: readonly string[],
  now: Date,
): Promise<Revived> {
  const revived = await write
    .updateTable(DELIVERIES)
    .set({
      state: "waiting",
      attempts: 0,
      next_attempt_at: now.toISOString(),
      scheduled_at: now.toISOString(),
    })
    .where("notification_id", "=", notificationId)
    .where("state", "=", "dead")
    .where("channel", "in", channels)
    .returning("id")
    .execute();
  const left = await read
    .selectFrom(DELIVERIES)
    .select("channel")
    .where("notification_id", "=", notificationId)
    .where("state", "=", "dead")
    .where("channel", "not in", channels)
    .orderBy("channel")
    .execute();
  return { deliveries: revived.length, notConfigured: left.map(({ channel }) => channel) };
}

/** What is delivered stays and is seen; what is being tried stays, since the other side may take it yet. */
export async function discard(
  { write, read }: Access,
  notificationId: number,
  channel: string | undefined,
  now: Date,
): Promise<number | "leased"> {
  let doomed = write
    .deleteFrom(DELIVERIES)
    .where("notification_id", "=", notificationId)
    .where("state", "in", ["waiting", "dead"])
    .where(unleased(now));
  if (channel !== undefined) doomed = doomed.where("channel", "=", channel);
  const gone = Number((await doomed.executeTakeFirst()).numDeletedRows);
  if (gone > 0) return gone;
  let kept = read
    .selectFrom(DELIVERIES)
    .select("id")
    .where("notification_id", "=", notificationId)
    .where("state", "=", "waiting");
  if (channel !== undefined) kept = kept.where("channel", "=", channel);
  return (await kept.executeTakeFirst()) === undefined ? 0 : "leased";
}
