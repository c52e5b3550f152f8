import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { z } from "zod";
import { defineConfig, defineHandler, Rejected } from "../../src/index.ts";
import { startTestReceiver } from "../../src/testing/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { freePort } from "../support/free-port.ts";
import { withHttpServer } from "../support/http-server.ts";

const MINUTE = 60_000;

/** A configuration as `oncehook.config.ts` exports it, with a handler that fails as often as it is told to. */
function parcels(failing = { times: 0 }) {
  const shipped = defineHandler({
    type: "parcel_shipped",
    data: z.object({ parcel_id: z.string() }),
    migrations: [
      {
        name: "parcels",
        up: async ({ query }) => {
          await query.schema.createTable("parcels").addColumn("id", "text").addColumn("at", "text").execute();
        },
      },
    ],
    async handle({ event, tx, notify, version, attempt, now }) {
      const { parcel_id } = event.data;
      if (parcel_id === "unknown") throw new Rejected("parcel_id: there is no such parcel");
      await tx.query.insertInto("parcels").values({ id: parcel_id, at: now.toISOString() }).execute();
      await notify("parcel.shipped", { parcel_id });
      if (failing.times > 0) {
        failing.times -= 1;
        throw new Error("the warehouse does not answer");
      }
      return { parcel_id, version, attempt };
    },
  });
  return defineConfig({ handlers: [shipped] });
}

const shipped = { event_type: "parcel_shipped", data: { parcel_id: "p1" } };

describeFullOnPostgres("a test receiver on %s", (dialect) => {
  const start = (options: Parameters<typeof startTestReceiver>[0] = {}) =>
    startTestReceiver({
      databaseUrl: dialect === "sqlite" ? undefined : inject("postgresUrl"),
      printFailures: false,
      ...parcels(),
      ...options,
    });

  it("a test receiver handles what is sent, once, and returns the event so that it can be sent again", async () => {
    await using receiver = await start();
    const first = await receiver.send(shipped);
    expect([first.status, first.body]).toEqual([
      200,
      { status: "success", data: { parcel_id: "p1", version: "v1", attempt: "inline" } },
    ]);
    expect((await receiver.send(first.event)).body).toEqual({ status: "already_processed" });
    expect((await receiver.send(shipped)).body.status).toBe("success");
    const records = await receiver.records();
    expect(records).toMatchObject([
      { event_id: first.event.event_id, status: "completed", result: { parcel_id: "p1" } },
      { event_type: "parcel_shipped" },
    ]);
  });

  it("a test receiver sends versions and headers of the test's own", async () => {
    await using receiver = await start();
    const second = await receiver.send(shipped, { version: "v2" });
    expect(second.body.data).toMatchObject({ version: "v2" });
    const other = await receiver.send(shipped, { headers: { "x-event-type": "nobody_knows" } });
    expect(other.status).toBe(400);
    expect((await receiver.send(shipped, { raw: "no event" })).status).toBe(400);
  });

  it("a test receiver refuses what is forged, and nothing is left of it", async () => {
    await using receiver = await start();
    const { status, body } = await receiver.sendForged(shipped);
    expect([status, body]).toEqual([401, { error: "invalid signature" }]);
    expect(await receiver.records()).toEqual([]);
    expect(await receiver.failures()).toEqual([]);
  });

  it("a test receiver retries when the clock is moved, each retry at its own time, and not a moment before", async () => {
    const failing = { times: 2 };
    await using receiver = await start({ ...parcels(failing), now: new Date("2026-01-01T00:00:00Z") });
    expect((await receiver.send(shipped)).status).toBe(500);
    await receiver.clock.advance(MINUTE - 1);
    expect(await receiver.failures()).toMatchObject([{ state: "waiting", attempts: 1, retries_done: 0 }]);
    await receiver.clock.advance(1);
    expect(await receiver.failures()).toMatchObject([{ state: "waiting", attempts: 2, retries_done: 1 }]);
    await receiver.clock.advance(10 * MINUTE);
    expect(await receiver.failures()).toEqual([]);
    expect(await receiver.records()).toMatchObject([{ result: { attempt: "retry" } }]);
    const rows = await receiver.read(({ query }) => query.selectFrom("parcels").selectAll().execute());
    expect(rows).toEqual([{ id: "p1", at: "2026-01-01T00:02:00.000Z" }]);
    expect(receiver.clock.now()).toEqual(new Date("2026-01-01T00:11:00Z"));
  });

  it("a test receiver shows an event whose retries are used up, with its error", async () => {
    await using receiver = await start(parcels({ times: 99 }));
    await receiver.send(shipped);
    await receiver.clock.advance(60 * MINUTE);
    expect(await receiver.failures()).toMatchObject([
      {
        state: "exhausted",
        attempts: 4,
        retries_done: 3,
        error: expect.stringContaining("the warehouse does not answer"),
      },
    ]);
    expect(await receiver.read(({ query }) => query.selectFrom("parcels").selectAll().execute())).toEqual([]);
  });

  it("a test receiver moves the clock one step after the other, however they are asked for", async () => {
    await using receiver = await start(parcels({ times: 99 }));
    await receiver.send(shipped);
    await Promise.all([receiver.clock.advance(MINUTE), receiver.clock.advance(MINUTE)]);
    expect(await receiver.failures()).toMatchObject([{ attempts: 3, retries_done: 2 }]);
    expect(() => receiver.clock.advance(-1)).toThrow("got -1, expected milliseconds from 0");
  });

  it("a test receiver shows what a handler notified, and delivers it when the clock is moved", async () => {
    await using receiver = await start();
    await receiver.send(shipped);
    expect(await receiver.notifications()).toMatchObject([
      { topic: "parcel.shipped", payload: { parcel_id: "p1" }, deliveries: [] },
    ]);
    await receiver.clock.advance(0);
    expect(await receiver.notifications()).toMatchObject([{ deliveries: [{ channel: "log", state: "delivered" }] }]);
    expect(receiver.lines).toContainEqual(expect.objectContaining({ topic: "parcel.shipped" }));
  });

  it("a test receiver tries a webhook again at the times that the clock passes", async () => {
    let asked = 0;
    await withHttpServer(
      (_request, response) => {
        asked += 1;
        response.statusCode = asked < 3 ? 503 : 204;
        response.end();
      },
      async (origin) => {
        await using receiver = await start({
          env: {
            NOTIFY_WEBHOOK_URL: `${origin}/hook`,
            NOTIFY_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString("base64")}`,
            NOTIFY_ALLOW_ADDRESSES: "127.0.0.0/8",
          },
        });
        await receiver.send(shipped);
        await receiver.clock.advance(0);
        expect(asked).toBe(1);
        await receiver.clock.advance(60 * MINUTE);
        expect(await receiver.notifications()).toMatchObject([{ deliveries: [{ state: "delivered", attempts: 3 }] }]);
      },
    );
  });

  it("a test receiver rolls back what is written while reading", async () => {
    await using receiver = await start();
    const count = () =>
      receiver.read(async ({ query }) => (await query.selectFrom("parcels").selectAll().execute()).length);
    const seen = await receiver.read(async ({ query }) => {
      await query.insertInto("parcels").values({ id: "p2", at: "" }).execute();
      return (await query.selectFrom("parcels").selectAll().execute()).length;
    });
    expect([seen, await count()]).toEqual([1, 0]);
    expect(await receiver.records()).toEqual([]);
  });

  it("a test receiver serves more than a page of records, oldest first", { tags: "full" }, async () => {
    await using receiver = await start();
    const ids = Array.from({ length: 203 }, (_, index) => `evt_${index}`);
    for (const event_id of ids) await receiver.send({ ...shipped, event_id });
    expect((await receiver.records()).map(({ event_id }) => event_id)).toEqual(ids);
  });

  it("a test receiver answers no more once it is closed, and may be closed twice", async () => {
    const receiver = await start();
    await receiver.close();
    await receiver.close();
    await expect(receiver.send(shipped)).rejects.toThrow("fetch failed");
  });
});

describe("a test receiver", () => {
  it("a test receiver answers the admin API with its token", async () => {
    await using receiver = await startTestReceiver(parcels());
    const headers = { authorization: `Bearer ${receiver.adminToken}` };
    const { status } = await fetch(`${receiver.adminOrigin}/metrics`, { headers });
    expect(status).toBe(200);
  });

  it("a test receiver keeps to the variables that it is given and reads none of the process's", async () => {
    process.env.RETRY_MAX = "0";
    try {
      await using receiver = await startTestReceiver(parcels({ times: 99 }));
      await receiver.send(shipped);
      expect(await receiver.failures()).toMatchObject([{ state: "waiting" }]);
    } finally {
      delete process.env.RETRY_MAX;
    }
    await expect(startTestReceiver({ env: { RETRYMAX: "1" } })).rejects.toThrow("RETRY_MAX");
  });

  it("a test receiver says what is wrong with a PostgreSQL on which it can make no database", async () => {
    const databaseUrl = `postgres://nobody:secret@127.0.0.1:${await freePort()}/postgres`;
    await expect(startTestReceiver({ databaseUrl })).rejects.toThrow(
      /no database could be made on that PostgreSQL \(.*ECONNREFUSED.*CREATEDB/,
    );
  });

  it("a test receiver leaves no database on the PostgreSQL it was given", async () => {
    const databaseUrl = inject("postgresUrl");
    const receiver = await startTestReceiver({ ...parcels(), databaseUrl });
    const name = new URL(receiver.databaseUrl).pathname.slice(1);
    expect(await databases(databaseUrl)).toContain(name);
    await receiver.close();
    expect(await databases(databaseUrl)).not.toContain(name);
  });
});

/** A test's own process: nothing may keep it from ending, and its folder for temporary files is its own. */
const LEAVES_NOTHING = `
  import { startTestReceiver } from "oncehook/testing";
  const event = { event_type: "payment_notify", data: { order_id: "o1", amount: 1 } };
  const broken = { name: "broken", up: () => { throw new Error("no such table"); } };
  await startTestReceiver({ migrations: [broken] }).then(
    () => console.log("it started"),
    (error) => console.log(error.message.includes("no such table")),
  );
  {
    await using receiver = await startTestReceiver();
    console.log((await receiver.send(event)).status);
  }
`;

it("a test receiver leaves nothing behind: no file, and no handle that keeps its process, also where it could not start", {
  tags: "full",
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-leaves-"));
  try {
    const args = ["--conditions=oncehook-source", "--input-type=module", "--eval", LEAVES_NOTHING];
    const env = { PATH: process.env.PATH ?? "", TMPDIR: folder };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(stdout).toBe("true\n200\n");
    expect(await readdir(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

async function databases(connectionString: string): Promise<string[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query("SELECT datname FROM pg_database")).rows.map(({ datname }) => datname);
  } finally {
    await client.end();
  }
}
