import { z } from "zod";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { HOUR_MS } from "../../src/domain/index.ts";
import { defineHandler } from "../../src/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { breaking } from "../support/breaking.ts";
import { execute } from "../support/execute.ts";
import { WEBHOOK_SECRET } from "../support/notified.ts";
import { event, payment, type TestReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { shop } from "../support/shop-source.ts";
import { unreliable } from "../support/unreliable.ts";
import { until } from "../support/until.ts";
import type { withDashboard } from "./dashboard.ts";
import { type Troubled, withTroubledDashboard } from "./troubled-way.ts";

const LIMIT_MS = 60_000;
export const VIEWER = "a-token-for-those-who-may-look";
const SECRET = "the secret of the shop";
const ENV = {
  RATE_LIMIT_DEFAULT: "off",
  RATE_LIMIT_CALLBACK: "off",
  RETRY_MAX: "0",
  ADMIN_VIEWER_TOKEN: VIEWER,
  NOTIFY_WEBHOOK_URL: "http://127.0.0.1:9/hook",
  NOTIFY_WEBHOOK_SECRET: WEBHOOK_SECRET,
  NOTIFY_ATTEMPTS: "1",
};

/** One of each thing that a page can show. */
export interface Everything extends Troubled {
  /** The id of a problem of each kind. */
  readonly ids: Readonly<Record<"failure" | "refusal" | "delivery", string>>;
}

/** Lends a browser at a receiver whose every page, list and panel has something to show. */
export function withEverything<T>(
  use: (shown: Everything) => Promise<T>,
  context: Parameters<typeof withDashboard>[2] = {},
): Promise<T> {
  const order = defineHandler({ source: "shop", type: "order", data: z.looseObject({}), handle: () => ({}) });
  const { handlers } = breaking({ mute_me: "the till is closed" });
  return withTroubledDashboard(
    async (shown) => use({ ...shown, ids: await happen(shown.receiver) }),
    {
      env: ENV,
      sources: { shop: shop({ answer: "inline" }), hub: shop(), billing: stripe({ secret: "whsec_of-it" }) },
      handlers: [unreliable().handler, order, ...handlers],
      bulkPollMs: 50,
      backfillPollMs: 50,
      outboxPollMs: 20,
    },
    context,
  );
}

async function happen(receiver: TestReceiver): Promise<Everything["ids"]> {
  const client = createAdminClient({ origin: receiver.adminOrigin, token: TOKEN });
  await receiver.send(payment({ event_id: "evt_1" }));
  await receiver.send(payment({ event_id: "evt_1" }, { amount: 11 }));
  await receiver.send(payment({ event_id: "evt_forged" }), { secret: "another secret of the same length" });
  await receiver.send(event("unreliable", {}, { event_id: "evt_2" }));
  await receiver.send(event("mute_me", {}, { event_id: "evt_3" }));
  await call(receiver, "shop", 2);
  await call(receiver, "hub", 6);
  await call(receiver, "hub", 20, "another secret");
  await until(async () => (await receiver.count("oncehook_deliveries", "state = 'dead'")) > 0, LIMIT_MS);
  await until(async () => (await client.problems.list()).items.length === 4, LIMIT_MS);
  const { items } = await client.problems.list();
  const idOf = (what: (item: (typeof items)[number]) => boolean) => items.find(what)?.id ?? "";
  const later = new Date(Date.now() + HOUR_MS).toISOString();
  const muted = idOf(({ event_type }) => event_type === "mute_me");
  await client.problems.mute(muted, { until: later, reason: "known" });
  for (const source of ["shop", "hub"]) await execute(receiver.target, alertOf(source));
  await client.alerts.mute({ kind: "silence", source: "hub", subject: "", until: later, reason: "known" });
  const ids = {
    failure: idOf(({ event_type }) => event_type === "unreliable"),
    refusal: idOf(({ kind }) => kind === "refusal"),
    delivery: idOf(({ kind }) => kind === "delivery"),
  };
  await client.checks.run();
  const replay = await client.bulkReplays.start({ filter: { problem: ids.failure } });
  const since = new Date(Date.now() - HOUR_MS).toISOString();
  const backfill = await client.backfills.start({ handler: "shop", since, per_second: 100 });
  await until(async () => (await client.bulkReplays.get(replay.id)).ended_at !== null, LIMIT_MS);
  await until(async () => (await client.backfills.get(backfill.id)).already_taken === 2, LIMIT_MS);
  // It would end while the pages are looked at, and could not be cancelled then.
  await client.backfills.pause(backfill.id);
  return ids;
}

async function call({ publicOrigin }: TestReceiver, source: string, count: number, secret = SECRET): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) {
    const body = Buffer.from(JSON.stringify({ id: `${source}-${secret.length}-${sent}`, type: "order" }));
    const headers = shop({ secret }).sign?.({ body, now: new Date() }) ?? {};
    await fetch(`${publicOrigin}/api/${source}/callback`, { method: "POST", body, headers });
  }
}

const alertOf = (source: string) =>
  `INSERT INTO oncehook_alerts (kind, source, subject, is_open, number, since, notified_count, notified_at)
    VALUES ('silence', '${source}', '', 1, 1, '2026-01-01T00:00:00.000Z', 1, '2026-01-01T00:00:00.000Z')`;
