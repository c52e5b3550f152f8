import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { signHmac } from "../../src/index.ts";
import { databaseFile, describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { payment, SECRET, startReceiver, type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const CAPTURE = { env: { CAPTURE: "on" } };
const HEARD = "/_oncehook/captured";
const BEARER = { authorization: `Bearer ${TOKEN}` };

interface Stream {
  readonly lines: Record<string, unknown>[];
  readonly isOver: boolean;
  leave(): void;
}

/** Reads the lines of one connection, as they come. */
async function openStream({ publicOrigin }: TestReceiver, query = ""): Promise<Stream> {
  const state = { lines: [] as Record<string, unknown>[], isOver: false };
  const asked = request(`${publicOrigin}${HEARD}${query}`, { headers: BEARER, agent: false }).end();
  asked.on("error", () => {});
  asked.on("response", (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (chunk) => {
      const parts = (text + chunk).split("\n");
      text = parts.pop() ?? "";
      state.lines.push(...parts.map((part) => JSON.parse(part)));
    });
    response
      .on("error", () => {})
      .on("close", () => {
        state.isOver = true;
      });
  });
  await until(() => state.lines.length > 0, 30_000);
  return {
    lines: state.lines,
    get isOver() {
      return state.isOver;
    },
    leave: () => asked.destroy(),
  };
}

const requestsOf = ({ lines }: Stream) => lines.filter(({ line }) => line === "request");
const bodyOf = (line: Record<string, unknown>) => JSON.parse(Buffer.from(String(line.body), "base64").toString());
const get = ({ publicOrigin }: TestReceiver, path: string, headers: Record<string, string> = BEARER) =>
  fetch(publicOrigin + path, { headers });

describe("the callbacks that are kept for listeners", () => {
  it.each([
    ["no token", {}],
    ["another token", { authorization: "Bearer another-token-of-some-length" }],
    ["the token in another scheme", { authorization: `Basic ${TOKEN}` }],
  ])("a request with %s gets no captured callbacks", (_title, headers) =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const response = await get(receiver, HEARD, headers);
        expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="admin"']);
      },
      CAPTURE,
    ),
  );

  it("the capture route locks an address out after ten wrong tokens, together with the admin API, with an audit row and a log line for each", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const tryToken = (token: string) => get(receiver, HEARD, { authorization: `Bearer ${token}` });
        for (let count = 0; count < 9; count += 1) expect((await tryToken(`a-wrong-token-${count}`)).status).toBe(401);
        const last = { headers: { authorization: "Bearer one-more-wrong-token" } };
        expect((await receiver.admin("/api/v1/session", last)).status).toBe(401);
        const locked = await tryToken(TOKEN);
        expect([locked.status, await locked.json()]).toEqual([
          429,
          {
            error: expect.stringMatching(/^too many wrong tokens came from this address; try again in \d+ s$/),
          },
        ]);
        expect(Number(locked.headers.get("retry-after"))).toBeLessThanOrEqual(60);
        await until(async () => (await receiver.count("oncehook_audit", "outcome = 'refused'")) === 10);
        expect(receiver.lines.filter(({ reason }) => reason === "wrong token")).toHaveLength(10);
      },
      CAPTURE,
    ));

  it("a viewer's token cannot read captured callbacks", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const response = await get(receiver, HEARD, { authorization: "Bearer a-token-for-viewers" });
        expect(response.status).toBe(403);
        await until(async () => (await receiver.count("oncehook_audit", "action = 'callbacks.listen'")) === 1);
      },
      { env: { ...CAPTURE.env, ADMIN_VIEWER_TOKEN: "a-token-for-viewers" } },
    ));

  it("callbacks are not captured, and the capture route returns 404, without CAPTURE", () =>
    withReceiver("sqlite", async (receiver) => {
      await receiver.send(payment());
      expect(await (await get(receiver, HEARD)).json()).toEqual({ error: "not found" });
      expect((await get(receiver, HEARD)).status).toBe(404);
      await receiver.stop();
      expect(await receiver.count("oncehook_captured_requests")).toBe(0);
    }));

  it.each(["?after=x", "?after=0123456789abcdef.1&since=5", "?since=86401", "?since=-1", "?from=1"])(
    "a request for captured callbacks with %s returns 400",
    (query) =>
      withReceiver(
        "sqlite",
        async (receiver) => expect((await get(receiver, HEARD + query)).status).toBe(400),
        CAPTURE,
      ),
  );

  it("requests to callback addresses are captured, and a redirect's query and other paths are not", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const stream = await openStream(receiver);
        await get(receiver, "/api/platform/oauth-callback?code=c&state=s", {});
        await get(receiver, "/api/platform/callback", {});
        await receiver.send(payment({ event_id: "e1" }), { path: "/api/v1/platform/callback" });
        await until(() => requestsOf(stream).length > 0);
        expect(requestsOf(stream)).toMatchObject([{ method: "POST", url: "/api/v1/platform/callback" }]);
      },
      CAPTURE,
    ));

  it("captured callbacks are encrypted in the database", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const sent = JSON.stringify(payment());
        await receiver.send({}, { raw: sent });
        await receiver.stop();
        const bytes = await readFile(databaseFile(receiver.target));
        expect(await receiver.count("oncehook_captured_requests")).toBe(1);
        expect(bytes.includes(signHmac(SECRET, Buffer.from(sent)))).toBe(false);
      },
      CAPTURE,
    ));

  it("captured callbacks leave the request's way free for others, and its end: a stop ends every connection", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const streams = await Promise.all([1, 2, 3].map(() => openStream(receiver)));
        await receiver.send(payment({ event_id: "e1" }));
        for (const stream of streams) await until(() => requestsOf(stream).length === 1);
        await receiver.stop();
        for (const stream of streams) await until(() => stream.isOver);
        expect(streams.map(({ isOver }) => isOver)).toEqual([true, true, true]);
      },
      CAPTURE,
    ));

  it("streams of captured callbacks continue from any position that was sent", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const first = await openStream(receiver);
        for (const id of ["e1", "e2", "e3"]) await receiver.send(payment({ event_id: id }));
        await until(() => requestsOf(first).length === 3);
        first.leave();
        const again = await openStream(receiver, `?after=${String(requestsOf(first)[0]?.at)}`);
        await until(() => requestsOf(again).length === 2);
        expect(again.lines[0]).toMatchObject({ line: "hello", database: "same" });
        expect(requestsOf(again).map((line) => bodyOf(line).event_id)).toEqual(["e2", "e3"]);
      },
      CAPTURE,
    ));

  it("a stream of captured callbacks reports a restored database, and deleted entries to a late reader", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const first = await openStream(receiver);
        for (const id of ["e1", "e2"]) await receiver.send(payment({ event_id: id }));
        await until(() => requestsOf(first).length === 2);
        const [log] = String(first.lines[0]?.at).split(".");
        const older = await openStream(receiver, `?after=${log}.500`);
        expect(older.lines).toEqual([{ line: "hello", at: `${log}.2`, database: "older" }]);
        await receiver.stop();
        const { DatabaseSync } = await import("node:sqlite");
        const database = new DatabaseSync(databaseFile(receiver.target));
        database.exec("INSERT INTO oncehook_settings VALUES ('capture_deleted_to', '1')");
        database.exec("DELETE FROM oncehook_captured_requests WHERE id = 1");
        database.close();
        const second = await startReceiver(receiver.target, CAPTURE);
        try {
          const late = await openStream(second, `?after=${log}.0`);
          await until(() => requestsOf(late).length === 1);
          expect(late.lines.map(({ line }) => line)).toEqual(["hello", "swept", "request"]);
        } finally {
          await second.stop();
        }
      },
      CAPTURE,
    ));
});

describeFullOnPostgres("what was kept for listeners on %s", (dialect) => {
  it("captured callbacks are deleted at the first start without CAPTURE", () =>
    withDatabase(dialect, async (target) => {
      const first = await startReceiver(target, CAPTURE);
      await first.send(payment());
      await first.stop();
      expect(await first.count("oncehook_captured_requests")).toBe(1);
      const second = await startReceiver(target);
      await until(async () => (await second.count("oncehook_captured_requests")) === 0);
      await second.stop();
      expect(await rowsOf(target, "SELECT * FROM oncehook_settings WHERE name LIKE 'heard%'")).toEqual([]);
    }));
});
