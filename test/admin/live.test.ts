import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { PassThrough } from "node:stream";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { LiveFeed, LiveStream } from "../../src/admin/live/live-feed.ts";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { systemClock } from "../../src/system/index.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { withStoreBeside } from "../support/beside.ts";
import { describeFullOnPostgres, type Target, withDatabase, withStore } from "../support/databases.ts";
import { readEvents, withListening } from "../support/event-stream.ts";
import { execute } from "../support/execute.ts";
import { logRow } from "../support/log-row.ts";
import { conforms } from "../support/openapi.ts";
import { overriding } from "../support/overriding.ts";
import { event, payment, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const LIMIT_MS = 20_000;
const callbacksOf = (messages: readonly { event: string; data: Record<string, unknown> }[]) =>
  messages.filter((one) => one.event === "callback").map(({ data }) => data.event_id ?? data.request_id);

/** Adds rows to the log as another process would. */
function append(target: Target, requestIds: readonly string[], over: object = {}): Promise<void> {
  // What is past its retention would go at the next start.
  const receivedAt = new Date().toISOString();
  const rows = requestIds.map((requestId) => logRow({ requestId, receivedAt, ...over }));
  return withStoreBeside(target, (store) => store.appendCallbacks(rows));
}

describeFullOnPostgres("a live stream on %s", (dialect) => {
  it("a live stream sends each matching callback once after its response, in order", () =>
    withReceiver(dialect, async (receiver) => {
      await receiver.send(payment({ event_id: "before" }));
      await withListening(receiver.adminOrigin, {}, (all) =>
        withListening(receiver.adminOrigin, { status: "4xx" }, async (refused) => {
          await receiver.send(payment({ event_id: "one" }));
          await receiver.send(payment({ event_id: "one" }));
          await receiver.send(event("nobody_knows", {}, { event_id: "two" }));
          await receiver.send(payment(), { secret: "z".repeat(32) });
          await until(() => all.eventIds().length === 4 && refused.eventIds().length === 2, LIMIT_MS);
          expect(all.eventIds()).toEqual(["one", "one", "two", null]);
          expect(refused.eventIds()).toEqual(["two", null]);
        }),
      );
    }));

  it(
    "a live stream sends the counts of callbacks and outcomes every two seconds, whatever its filter",
    { tags: "full" },
    () =>
      withReceiver(dialect, async (receiver) => {
        await withListening(receiver.adminOrigin, { source: "oauth" }, async ({ events }) => {
          await receiver.send(payment());
          await receiver.send(payment(), { secret: "z".repeat(32) });
          const tallies = () => events.flatMap((one) => (one.event === "tally" ? [one.tally] : []));
          const sum = (of: (tally: ReturnType<typeof tallies>[number]) => number) =>
            tallies().reduce((total, tally) => total + of(tally), 0);
          await until(() => sum(({ callbacks }) => callbacks) === 2, LIMIT_MS);
          expect(sum(({ outcomes }) => outcomes.success ?? 0)).toBe(1);
          expect(sum(({ outcomes }) => outcomes.signature_mismatch ?? 0)).toBe(1);
          expect(tallies().at(-1)).toMatchObject({ waiting: 0, exhausted: 0 });
          expect(events.every((one) => one.event === "tally")).toBe(true);
        });
      }),
  );

  it("a live stream sends callbacks of other processes on the same database", () =>
    withReceiver(dialect, async (receiver) => {
      await withListening(receiver.adminOrigin, {}, async (listening) => {
        await append(receiver.target, ["elsewhere"]);
        await until(() => listening.requestIds().length === 1, LIMIT_MS);
        expect(listening.requestIds()).toEqual(["elsewhere"]);
      });
    }));

  it(
    "a live stream sends each callback once when two processes respond at the same time",
    { tags: "full", timeout: 90_000 },
    () =>
      withDatabase(dialect, async (target) => {
        const receivers = [await startReceiver(target), await startReceiver(target)] as const;
        const ids = Array.from({ length: 300 }, (_, index) => `e${index}`);
        try {
          await withListening(receivers[0].adminOrigin, {}, async (listening) => {
            const sent = ids.map((id, index) => receivers[index % 2 === 0 ? 0 : 1].send(payment({ event_id: id })));
            expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([200]));
            await until(() => listening.eventIds().length >= ids.length, LIMIT_MS);
            await receivers[0].send(payment({ event_id: "last" }));
            await until(() => listening.eventIds().includes("last"), LIMIT_MS);
            expect(listening.eventIds().toSorted()).toEqual([...ids, "last"].toSorted());
          });
        } finally {
          for (const receiver of receivers) await receiver.stop();
        }
      }),
  );

  it("a reconnecting client gets the missed callbacks, each once", { tags: "full" }, () =>
    withReceiver(dialect, async (receiver) => {
      /** Sent when the stream is open. */
      const onceOpen = (id: string) => {
        let isSent = false;
        return () => {
          if (!isSent) void receiver.send(payment({ event_id: id }));
          isSent = true;
        };
      };
      const sendHeard = onceOpen("heard");
      const first = await readEvents(receiver, "", {}, (messages) => {
        sendHeard();
        return callbacksOf(messages).length === 1;
      });
      const place = first.find((one) => one.event === "callback")?.id ?? "";
      for (const id of ["missed-1", "missed-2"]) await receiver.send(payment({ event_id: id }));
      await receiver.send(payment(), { secret: "z".repeat(32) });
      await receiver.admin("/api/v1/callbacks");
      const sendFresh = onceOpen("fresh");
      const again = await readEvents(receiver, "?outcome=success", { "last-event-id": place }, (messages) => {
        sendFresh();
        return callbacksOf(messages).length === 3;
      });
      expect(callbacksOf(again)).toEqual(["missed-1", "missed-2", "fresh"]);
    }),
  );

  it("a live stream starts at the end of a long log, and replays at most a thousand missed callbacks", () =>
    withReceiver(dialect, async (receiver) => {
      const ids = Array.from({ length: 1_250 }, (_, index) => `r${index}`);
      await append(receiver.target, ids);
      const fresh = await readEvents(receiver, "", {}, (sofar) => {
        if (sofar.length === 1) void receiver.send(payment({ event_id: "fresh" }));
        return callbacksOf(sofar).includes("fresh");
      });
      expect(callbacksOf(fresh)).toEqual(["fresh"]);
      const [oldest] = await everyId(receiver, ids.length + 1);
      const messages = await readEvents(receiver, "", { "last-event-id": String(Number(oldest) - 1) }, (sofar) =>
        sofar.some((one) => one.event === "tally"),
      );
      expect(callbacksOf(messages)).toEqual(ids.slice(0, 1_000));
      const gap = messages.find((one) => one.event === "gap")?.data;
      expect(gap).toEqual({ after: Number(oldest) + 999, until: Number(oldest) + ids.length });
    }));

  it("a live stream reports that missed callbacks are unknown where the position is of another database state", () =>
    withReceiver(dialect, async (receiver) => {
      await receiver.send(payment());
      const messages = await readEvents(receiver, "", { "last-event-id": "999999" }, (sofar) =>
        sofar.some((one) => one.event === "tally"),
      );
      expect(messages.map((one) => one.event)).toEqual(["gap", "tally"]);
      expect(messages[0]?.data.after).toBeNull();
    }));
});

async function everyId({ adminOrigin }: TestReceiver, count: number): Promise<number[]> {
  const client = createAdminClient({ origin: adminOrigin, token: TOKEN });
  const ids: number[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await client.callbacks.list({ limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  expect(ids).toHaveLength(count);
  return ids.reverse();
}

const INSERT = `INSERT INTO oncehook_callbacks (request_id, received_at, method, url, remote_address, request_headers,
  request_body, outcome, response_status, response_body, processing_ms, with_record)
  VALUES ($1, now(), 'POST', '/', 'a', '{}', '', 'success', 200, '', 1, 0)`;

/** Lends transactions that have written a row each and are still open. */
async function withOpenRows<T>(
  { url }: Target,
  requestIds: readonly string[],
  use: (clients: readonly pg.Client[]) => Promise<T>,
): Promise<T> {
  const clients = requestIds.map(() => new pg.Client({ connectionString: url }));
  try {
    for (const [index, client] of clients.entries()) {
      await client.connect();
      await client.query("BEGIN");
      await client.query(INSERT, [requestIds[index]]);
    }
    return await use(clients);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

describe("a live stream on PostgreSQL, where a row may become visible after one with a higher id", () => {
  it(
    "a live stream sends a row that becomes visible late, from a transaction before or after its start",
    { tags: "full" },
    () =>
      withReceiver("postgres", async (receiver) =>
        withOpenRows(receiver.target, ["late-1"], async ([early]) => {
          await receiver.send(payment({ event_id: "before" }));
          await withListening(receiver.adminOrigin, {}, (listening) =>
            withOpenRows(receiver.target, ["late-2", "never"], async ([late, never]) => {
              await append(receiver.target, ["after"]);
              await until(() => listening.requestIds().length === 1, LIMIT_MS);
              await late?.query("COMMIT");
              await until(() => listening.requestIds().length === 2, LIMIT_MS);
              await never?.query("ROLLBACK");
              await early?.query("COMMIT");
              await append(receiver.target, ["last"]);
              await until(() => listening.requestIds().length === 4, LIMIT_MS);
              expect(listening.requestIds().slice(0, 2)).toEqual(["after", "late-2"]);
              expect(listening.requestIds().slice(2).sort()).toEqual(["last", "late-1"]);
            }),
          );
        }),
      ),
  );

  it("a client that was disconnected when a late row became visible gets it after reconnecting", () =>
    withReceiver("postgres", async (receiver) => {
      await receiver.send(payment({ event_id: "before" }));
      await withOpenRows(receiver.target, ["late-1", "late-2"], async ([first, second]) => {
        await append(receiver.target, ["after"]);
        const opened = await readEvents(receiver, "", {}, (sofar) => sofar.length > 0);
        const place = opened[0]?.id ?? "";
        expect(place).toMatch(/^\d+-\d+-\d+$/);
        await first?.query("COMMIT");
        const missed = await readEvents(receiver, "", { "last-event-id": place }, (sofar) =>
          sofar.some((one) => one.event === "tally"),
        );
        expect(callbacksOf(missed)).toEqual(["late-1"]);
        const later = missed.find((one) => one.event === "callback")?.id ?? "";
        expect(later).toMatch(/^\d+-\d+$/);
        const waiting = readEvents(receiver, "", { "last-event-id": later }, (sofar) => callbacksOf(sofar).length > 0);
        await second?.query("COMMIT");
        expect(callbacksOf(await waiting)).toEqual(["late-2"]);
      });
    }));
});

describe("the feed of live streams", () => {
  it("the feed sends a late row once to each client, although another client catches up meanwhile", () =>
    withStore("sqlite", async (store, target) => {
      const insert = (id: number) => execute(target, rowWith(id));
      await insert(1);
      await insert(3);
      const catchingUp = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const after: typeof store.callbacks.after = async (id, limit) => {
        const rows = await store.callbacks.after(id, limit);
        if (id === 1) {
          catchingUp.resolve();
          await released.promise;
        }
        return rows;
      };
      const callbacks = overriding(store.callbacks, { after });
      const feed = new LiveFeed({ store: { ...store, callbacks }, clock: systemClock, log: recordedLog() });
      const [present, returning] = [client(), client()];
      feed.add(present.stream);
      feed.add(returning.stream, { newest: 1, missing: [] });
      await catchingUp.promise;
      await insert(2);
      await until(() => present.ids().includes(2), LIMIT_MS);
      released.resolve();
      await until(() => returning.ids().includes(2), LIMIT_MS);
      await insert(4);
      await until(() => present.ids().includes(4) && returning.ids().includes(4), LIMIT_MS);
      expect([present.ids(), returning.ids()]).toEqual([
        [2, 4],
        [3, 2, 4],
      ]);
      await feed.close();
    }));
});

/** A row that another process adds under this id, which may be lower than that of one before it. */
const rowWith = (id: number) => `INSERT INTO oncehook_callbacks (id, request_id, received_at, method, url,
  remote_address, request_headers, request_body, outcome, response_status, response_body, processing_ms, with_record)
  VALUES (${id}, 'r${id}', '${new Date().toISOString()}', 'POST', '/', 'a', '{}', '', 'success', 200, '', 1, 0)`;

/** A subscriber whose response stays in memory, and the ids of the callbacks that it was sent. */
function client() {
  const response = new PassThrough();
  let text = "";
  response.on("data", (chunk) => {
    text += chunk;
  });
  const stream = new LiveStream({}, response as unknown as ServerResponse, { session: null });
  const ids = () => [...text.matchAll(/^event: callback\ndata: \{"id":(\d+),/gm)].map(([, id]) => Number(id));
  return { stream, ids };
}

/** Opens the stream and never reads a byte of it. */
function deafListener({ adminOrigin }: TestReceiver, headers = "") {
  const { hostname, port } = new URL(adminOrigin);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  socket.write(
    `GET /api/v1/live HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${TOKEN}\r\n${headers}Connection: close\r\n\r\n`,
  );
  return socket;
}

// Each waits until the receiver gives up on a client, and uses nothing of the other.
describe.concurrent("a live stream", () => {
  it(
    "a client that does not read is cut off, and the others are not affected",
    { tags: "full", timeout: 120_000 },
    ({ expect }) =>
      withReceiver("sqlite", async (receiver) => {
        await withListening(receiver.adminOrigin, { text: "short" }, async (listening) => {
          const deaf = deafListener(receiver);
          const requestBody = "x".repeat(60_000);
          // More than the system keeps for a reader.
          for (let round = 0; round < 25; round += 1) {
            await append(
              receiver.target,
              Array.from({ length: 20 }, () => "long"),
              { requestBody },
            );
            await append(receiver.target, [`short-${round}`], { requestBody: "short" });
            await until(() => listening.requestIds().length === round + 1, LIMIT_MS);
          }
          const closed = once(deaf, "close");
          let last = "";
          deaf.on("data", (data) => {
            last = (last + data).slice(-100_000);
          });
          await closed;
          expect(last).toContain("xxx");
          expect(last).not.toContain("short-24");
          expect(listening.requestIds()).toEqual(Array.from({ length: 25 }, (_, round) => `short-${round}`));
        });
      }),
  );

  it(
    "a client that does not read its missed callbacks is cut off, which frees its place",
    { tags: "full", timeout: 120_000 },
    ({ expect }) =>
      withReceiver("sqlite", async (receiver) => {
        const requestBody = "x".repeat(60_000);
        for (let round = 0; round < 5; round += 1)
          await append(
            receiver.target,
            Array.from({ length: 100 }, () => "long"),
            { requestBody },
          );
        const deaf = Array.from({ length: 32 }, () => deafListener(receiver, "Last-Event-ID: 0\r\n"));
        /** Whether it would be let in; it goes at once. */
        const mayListen = async () => {
          const over = new AbortController();
          const headers = { authorization: `Bearer ${TOKEN}` };
          const { status } = await fetch(`${receiver.adminOrigin}/api/v1/live`, {
            headers,
            signal: over.signal,
          });
          over.abort();
          return status === 200;
        };
        await until(async () => !(await mayListen()), LIMIT_MS);
        await until(mayListen, 60_000);
        // None of them has left by itself.
        expect(deaf.map(({ destroyed }) => destroyed)).not.toContain(true);
        for (const socket of deaf) socket.destroy();
      }),
  );
});

describe("a live stream", () => {
  it("a client beyond the limit of streams is rejected, and gets one when another client disconnects", () =>
    withReceiver("sqlite", async (receiver) => {
      const overs: AbortController[] = [];
      const open = async () => {
        const over = new AbortController();
        overs.push(over);
        const headers = { authorization: `Bearer ${TOKEN}` };
        return fetch(`${receiver.adminOrigin}/api/v1/live`, { headers, signal: over.signal });
      };
      for (let index = 0; index < 32; index += 1) expect((await open()).status).toBe(200);
      const refused = await receiver.admin("/api/v1/live");
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"]);
      conforms("/api/v1/live", "get", refused);
      overs[0]?.abort();
      await until(async () => {
        const response = await open();
        if (response.status !== 200) await response.text();
        return response.status === 200;
      });
      for (const over of overs) over.abort();
    }));

  it("a live stream ends with the process, which does not wait for its clients", () =>
    withDatabase("sqlite", async (target) => {
      const receiver = await startReceiver(target);
      const opened = Promise.withResolvers<void>();
      const messages = readEvents(receiver, "", {}, () => {
        opened.resolve();
        return false;
      });
      await opened.promise;
      const begun = performance.now();
      await receiver.stop();
      expect((await messages).map((one) => one.event)).toContain("tally");
      expect(performance.now() - begun).toBeLessThan(10_000);
    }));

  it.each([
    ["outcome=signature_mismatched", /^outcome: there is no "signature_mismatched"; expected success/],
    ["status=6xx", /^status: got "6xx", expected a value such as 401 or 4xx$/],
    ["colour=red", /^there is no query parameter "colour"; there are from, to, source/],
  ])("a stream request with ?%s is rejected with the reason", (query, says) =>
    withReceiver("sqlite", async (receiver) => {
      const answer = await receiver.admin(`/api/v1/live?${query}`);
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(says)]);
      conforms("/api/v1/live", "get", answer);
    }),
  );

  it("a client resumes after a restart, with the callbacks that arrived meanwhile", { tags: "full" }, () =>
    withDatabase("sqlite", async (target) => {
      const first = await startReceiver(target);
      const { port } = new URL(first.adminOrigin);
      await withListening(first.adminOrigin, {}, async (listening) => {
        await first.stop();
        await until(() => listening.events.some((one) => one.event === "disconnected"), LIMIT_MS);
        await append(target, ["meanwhile"]);
        const second = await startReceiver(target, { env: { ADMIN_PORT: port } });
        try {
          await until(() => listening.requestIds().length === 1, LIMIT_MS);
          expect(listening.requestIds()).toEqual(["meanwhile"]);
          expect(listening.events.some((one) => one.event === "reconnected")).toBe(true);
        } finally {
          await second.stop();
        }
      });
    }),
  );
});
