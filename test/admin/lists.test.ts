import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { hmac } from "../../src/sources/platforms/index.ts";
import { execute } from "../support/execute.ts";
import { event, payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";

const ROWS = 50;
const MOST_BYTES = 15_000;
const NUMBERS = Array.from({ length: ROWS }, (_, index) => index);
/** A word without digits, so that each message is a cause of its own. */
const wordOf = (number: number) => [number % 7, number % 5, number % 3].map((at) => "abcdefg"[at]).join("");

/** As a handler's stack is: no two frames alike. */
const stackOf = (number: number) =>
  NUMBERS.map((frame) => `    at step${frame}of${number} (/app/src/orders/part-${number * frame}.ts:${frame}:7)`).join(
    "\n",
  );

const HANDLERS = [
  defineHandler({
    type: "failing",
    data: z.object({ number: z.number(), isSame: z.boolean() }),
    handle({ event: { data } }) {
      const error = new Error(data.isSame ? "the shop is closed" : `no stock of ${wordOf(data.number)}`);
      error.stack = `Error: ${error.message}\n${stackOf(data.number)}`;
      throw error;
    },
  }),
  defineHandler({ type: "payment_notify", data: z.looseObject({}), handle: async () => ({ order_id: "o1" }) }),
];

const SOURCES = Object.fromEntries(
  NUMBERS.map((number) => [
    `shop-${number}`,
    hmac({
      secret: `the secret of the shop ${number}`,
      signature: { header: "X-Signature", encoding: "hex" },
      signed: "{body}",
      id: "body.id",
      type: "body.type",
    }),
  ]),
);

/** What no request of a test brings about fifty times within a second. */
const STORED = `
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
INSERT INTO oncehook_audit (at, actor, role, remote_address, action, target, detail, outcome)
  SELECT '2026-01-01T00:00:00.000Z', 'ana@example.com', 'operator', '10.0.0.1', 'failure.replay', 'platform/evt_' || i,
    '{"reason":"the stock was mended, take ' || i || '"}', 'done' FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
INSERT INTO oncehook_bulk_replays (filter, per_second, created_by, state, total, succeeded, already_handled, failed,
    after_id, up_to_id, started_at, ended_at)
  SELECT '{"problem":"p' || i || '"}', 10, 'token', 'done', i, i, 0, 0, 0, i, '2026-01-01T00:00:00.000Z',
    '2026-01-01T00:01:00.000Z' FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
INSERT INTO oncehook_unreplayed_events (bulk_replay_id, source, event_id, event_type, at, kind, code, error)
  SELECT 1, 'platform', 'evt_' || i, 'failing', '2026-01-01T00:00:00.000Z', 'failed', 'handler_failed',
    'Error: down ' || i || char(10) || (SELECT group_concat('    at step' || (n.i * m.i), char(10)) FROM n AS m) FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
INSERT INTO oncehook_backfills (handler, since, includes_former, per_second, created_by, state, position, counts, due_at,
    started_at, ended_at)
  SELECT 'shop#audit' || i, '2026-01-01T00:00:00.000Z', 0, 10, 'token', 'cancelled', '{}',
    '{"accepted":' || i || ',"takenBefore":0,"skipped":0,"failed":0}', '2026-01-01T00:00:00.000Z',
    '2026-01-01T00:00:00.000Z', '2026-01-01T00:01:00.000Z' FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
INSERT INTO oncehook_alerts (kind, source, subject, is_open, number, since, notified_count, notified_at)
  SELECT 'failures', 'shop-' || i, 'order', 0, 1, '2026-01-01T00:00:00.000Z', i, '2026-01-01T00:00:00.000Z' FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
INSERT INTO oncehook_notifications (id, source, event_id, position, topic, payload, created_at, fanned_out_at)
  SELECT 1000 + i, 'platform', 'evt_' || i, 0, 'order.paid', '{"note":"' || hex(randomblob(500)) || '"}',
    '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts, error)
  SELECT 1000 + i, 'webhook', 'dead', 8, 'Error: status 503' || char(10) ||
    (SELECT group_concat('    at step' || (n.i * m.i), char(10)) FROM n AS m) FROM n;`;

async function fill(receiver: TestReceiver): Promise<string> {
  const text = () => `${Math.random()}`.repeat(50);
  for (const number of NUMBERS) {
    await receiver.send(payment({}, { text: text() }));
    await receiver.send(event("failing", { number, isSame: false, text: text() }));
    await receiver.send(event("failing", { number, isSame: true, text: text() }));
  }
  await execute(receiver.target, STORED);
  const { items } = (await receiver.admin("/api/v1/problems")).body as unknown as Listed;
  return String(items.find(({ count }) => count === ROWS)?.id);
}

interface Listed {
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

it("every list of fifty rows is compressed, at most 15 kB long, and without headers, bodies and stacks", () =>
  withReceiver(
    "sqlite",
    async (receiver) => {
      const problem = await fill(receiver);
      const sizes: Record<string, number> = {};
      for (const path of [
        ...["callbacks", "search?q=source:platform", "events", "failures", "notifications?state=dead", "audit"],
        ...[
          "bulk-replays",
          "bulk-replays/1/events",
          "backfills",
          "alerts",
          "problems",
          `problems/${problem}`,
          "sources",
        ],
      ]) {
        const response = await fetch(`${receiver.adminOrigin}/api/v1/${path}`, {
          headers: { authorization: `Bearer ${TOKEN}`, "accept-encoding": "gzip" },
        });
        const list = (await response.json()) as Record<string, unknown[]>;
        const rows = list.items ?? list.events ?? list.sources ?? [];
        expect([path, rows.length >= ROWS]).toEqual([path, true]);
        expect([path, response.headers.get("content-encoding")]).toEqual([path, "gzip"]);
        sizes[path] = Number(response.headers.get("content-length"));
        const text = JSON.stringify(rows);
        expect([path, text.match(/"(?:headers|body|response_body|payload)":| at step\d+/)?.[0]]).toEqual([
          path,
          undefined,
        ]);
      }
      expect(Object.entries(sizes).filter(([, bytes]) => bytes > MOST_BYTES)).toEqual([]);
      // A file has all of it, and so has the history of one event.
      const [failure] = (await receiver.admin("/api/v1/failures?limit=1")).body.items as { event_id: string }[];
      for (const path of ["failures/export", `events/platform/${failure?.event_id}`])
        expect(JSON.stringify((await receiver.admin(`/api/v1/${path}`)).body)).toMatch(/ at step\d+/);
    },
    { handlers: HANDLERS, sources: SOURCES, env: { RETRY_MAX: "0" } },
  ));
