import { once } from "node:events";
import { get } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Exported, exportLines } from "../../src/admin/export-routes.ts";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { defineHandler, Rejected } from "../../src/index.ts";
import { withStoreBeside } from "../support/beside.ts";
import { describeFullOnPostgres, type Target, withDatabase, withStore } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { withLock } from "../support/held-lock.ts";
import { logRow } from "../support/log-row.ts";
import { OwnPage } from "../support/own-page.ts";
import { payment, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

const headers = { authorization: `Bearer ${TOKEN}` };
const exporting = ({ adminOrigin }: TestReceiver, query: string) =>
  fetch(`${adminOrigin}/api/v1/callbacks/export${query}`, { headers });

function append(target: Target, count: number, over: object): Promise<void> {
  return withStoreBeside(target, async (store) => {
    for (let from = 0; from < count; from += 100) {
      const rows = Array.from({ length: Math.min(100, count - from) }, (_, index) =>
        logRow({ requestId: `r${from + index}`, ...over }),
      );
      await store.appendCallbacks(rows);
    }
  });
}

/** The cells of a CSV text in which every cell is quoted. */
function cellsOf(csv: string): string[][] {
  return csv
    .trimEnd()
    .split("\r\n")
    .map((line) => [...line.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell = ""]) => cell.replaceAll('""', '"')));
}

describeFullOnPostgres("an export of the callback log on %s", (dialect) => {
  it("an export has all matching rows as NDJSON with headers and bodies, newest first", () =>
    withReceiver(dialect, async (receiver) => {
      await append(receiver.target, 430, { eventType: "other" });
      await receiver.send(payment({ event_id: "paid" }));
      await append(receiver.target, 120, {});
      const client = createAdminClient({ origin: receiver.adminOrigin, token: TOKEN });
      const url = client.callbacks.exportUrl({ event_type: "payment_notify" });
      const response = await fetch(url, { headers });
      expect(response.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
      expect(response.headers.get("content-disposition")).toMatch(
        /^attachment; filename="callbacks-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.ndjson"$/,
      );
      const lines = (await response.text()).trimEnd().split("\n");
      const { items } = await client.callbacks.list({ event_type: "payment_notify", limit: 200 });
      expect(items).toHaveLength(121);
      expect(lines.map((line) => JSON.parse(line))).toEqual(
        items.map(({ claimed: _claimed, ...item }) => ({
          ...item,
          headers: expect.any(Object),
          body: expect.any(String),
          response_body: expect.any(String),
          event_state: item.event_id === "paid" ? "completed" : null,
        })),
      );
    }));

  it("an export as CSV has the same rows, and a spreadsheet runs no cell of it", () =>
    withReceiver(dialect, async (receiver) => {
      const nasty = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", 'a"b,c\r\nd', "plain = not"];
      // Full-width signs, a sign behind what is not seen, and parts that are cells where a spreadsheet splits at `;` or tabs.
      nasty.push(
        "＝1+1",
        "＋1",
        "－1",
        "＠SUM(A1)",
        " \u200b=1",
        "a;=1+1",
        'a; "-1',
        "a\t＝1",
        "a\n\n+1",
        "a; b = c-d",
      );
      for (const requestBody of nasty) await append(receiver.target, 1, { requestBody });
      const response = await exporting(receiver, "?format=csv");
      expect(response.headers.get("content-type")).toBe("text/csv; header=present; charset=utf-8");
      expect(response.headers.get("content-disposition")).toContain('.csv"');
      // Cells may hold line ends: it is taken apart by its quotes.
      const rows = (await response.text()).split(/\r\n(?="\d+")/);
      const [head = [], ...cells] = rows.map((row) => cellsOf(row.replaceAll("\r\n", "\n")).flat());
      expect(head.slice(0, 3)).toEqual(["id", "request_id", "timestamp"]);
      const body = head.indexOf("body");
      expect(cells.map((row) => row[body]).reverse()).toEqual([
        "'=1+1",
        "'+1",
        "'-1",
        "'@SUM(A1)",
        "'\t'=1",
        "'\r'=1",
        'a"b,c\nd',
        "plain = not",
        "'＝1+1",
        "'＋1",
        "'－1",
        "'＠SUM(A1)",
        "' \u200b=1",
        "a;'=1+1",
        "a; \"'-1",
        "a\t'＝1",
        "a\n\n'+1",
        "a; b = c-d",
      ]);
      expect(cells.every((row) => row.length === head.length)).toBe(true);
      expect(cells[0]?.[head.indexOf("headers")]).toBe("{}");
      expect(cells[0]?.[head.indexOf("error")]).toBe("");
    }));

  it("an export has the state that each callback's event has by now", () => {
    const handle = ({ event }: { event: { event_id: string } }) => {
      if (event.event_id === "fails") throw new Error("the warehouse is closed");
      if (event.event_id === "rejected") throw new Rejected("no such order");
      return {};
    };
    const handler = defineHandler({ source: "shop", type: "order", data: z.object({}), handle });
    return withReceiver(
      dialect,
      async (receiver) => {
        for (const id of ["runs", "fails", "rejected"])
          expect((await deliverToShop(receiver, { id })).body.status).toBe("accepted");
        const states = async () => {
          const [head = [], ...rows] = cellsOf(await (await exporting(receiver, "?format=csv")).text());
          const [id, state] = [head.indexOf("event_id"), head.indexOf("event_state")];
          return Object.fromEntries(rows.map((row) => [row[id], row[state]]));
        };
        await until(async () => !Object.values(await states()).includes("accepted"));
        expect(await states()).toEqual({ runs: "completed", fails: "waiting", rejected: "rejected" });
        const failed = await fetch(`${receiver.adminOrigin}/api/v1/failures/export?format=csv&source=shop`, {
          headers,
        });
        const [names = [], ...rows] = cellsOf(await failed.text());
        const cell = (row: string[], name: string) => row[names.indexOf(name)];
        expect(rows.map((row) => [cell(row, "event_id"), cell(row, "event_type"), cell(row, "state")])).toEqual([
          ["rejected", "order", "rejected"],
          ["fails", "order", "waiting"],
        ]);
        const typed = await (await exporting(receiver, "?event_type=order")).text();
        expect(typed.trimEnd().split("\n")).toHaveLength(3);
        await receiver.admin("/api/v1/failures/shop/fails", { method: "DELETE" });
        expect(await states()).toEqual({ runs: "completed", fails: "", rejected: "rejected" });
      },
      { handlers: [handler], sources: { shop: shop({ answer: "after" }) } },
    );
  });

  it("an export without matching rows is an empty file", () =>
    withReceiver(dialect, async (receiver) => {
      expect(await (await exporting(receiver, "?outcome=handler_failed")).text()).toBe("");
      const csv = await (await exporting(receiver, "?outcome=handler_failed&format=csv")).text();
      expect(cellsOf(csv)).toHaveLength(1);
    }));
});

describe("an export of the callback log", () => {
  it(
    "an export reads no further ahead than its reader, and holds up no callback",
    { tags: "full", timeout: 120_000 },
    () =>
      withReceiver("sqlite", async (receiver) => {
        // 60 MB, far more than the system keeps for a reader.
        await append(receiver.target, 1_000, { requestBody: "x".repeat(60_000) });
        const request = get(`${receiver.adminOrigin}/api/v1/callbacks/export`, { headers });
        const [response] = await once(request, "response");
        response.pause();
        // An export that does not wait would have come to its end when this one has.
        expect((await (await exporting(receiver, "")).text()).trimEnd().split("\n")).toHaveLength(1_000);
        expect((await receiver.send(payment())).status).toBe(200);
        await execute(receiver.target, "DELETE FROM oncehook_callbacks WHERE id <= 500");
        const lines = (await text(response)).trimEnd().split("\n");
        expect(lines.length).toBeLessThan(1_000);
        expect(lines.length).toBeGreaterThanOrEqual(500);
      }),
  );

  it("an export stops when its reader disconnects, also where it finds nothing", () =>
    withStore("sqlite", async (store) => {
      await store.appendCallbacks(Array.from({ length: 700 }, () => logRow()));
      const [reader, searches] = [new AbortController(), [] as number[]];
      const pages: Exported["pages"] = async (page) => {
        searches.push(page.before ?? 0);
        if (searches.length === 3) reader.abort();
        const { callbacks, next } = await store.callbacks.search({ source: "nobody" }, { ...page, budgetMs: 0 });
        return { rows: callbacks, next };
      };
      const lines = exportLines({ columns: [], format: "ndjson", pages }, reader.signal);
      expect(await lines.next()).toEqual({ done: true, value: undefined });
      expect(searches).toHaveLength(3);
    }));

  it("a fifth simultaneous export is rejected, and another one runs when one has ended", () =>
    withReceiver("sqlite", async (receiver) => {
      await append(receiver.target, 300, { requestBody: "x".repeat(60_000) });
      const unread = async () => {
        const request = get(`${receiver.adminOrigin}/api/v1/callbacks/export`, { headers });
        const [response] = await once(request, "response");
        response.pause();
        response.on("error", () => {});
        return response;
      };
      const open = await Promise.all([unread(), unread(), unread(), unread()]);
      expect(open.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
      const refused = await exporting(receiver, "");
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"]);
      expect(await refused.json()).toEqual({
        error: "4 exports run on this process, and no more may; try again when one has ended",
      });
      open[0].destroy();
      await until(async () => (await exporting(receiver, "?outcome=handler_failed")).status === 200);
      for (const response of open) response.destroy();
    }));

  it("an export whose client leaves while the database looks its session up counts no longer", () =>
    withReceiver("postgres", async (receiver) => {
      const { headers: begun } = await new OwnPage(receiver.adminOrigin).signIn(TOKEN);
      const cookie = begun.get("set-cookie")?.split(";")[0] ?? "";
      const leaving = new AbortController();
      const options = { headers: { cookie }, signal: leaving.signal };
      await withLock(receiver.target, "LOCK TABLE oncehook_sessions IN ACCESS EXCLUSIVE MODE", async () => {
        const url = `${receiver.adminOrigin}/api/v1/callbacks/export`;
        const left = [1, 2, 3, 4].map(() => fetch(url, options).catch(() => "left"));
        await until(async () => (await receiver.count("pg_locks", "NOT granted")) === 4);
        leaving.abort();
        expect(await Promise.all(left)).toEqual(Array(4).fill("left"));
        // A later request has its response when the receiver knows that these have left.
        expect((await receiver.admin("/healthz")).status).toBe(200);
      });
      await until(async () => (await receiver.count("pg_locks", "NOT granted")) === 0);
      await until(async () => (await exporting(receiver, "")).status === 200, 5_000);
    }));

  it("an export breaks off when its owner signs out, and others go on", { tags: "full" }, () =>
    withReceiver("sqlite", async (receiver) => {
      await append(receiver.target, 300, { requestBody: "x".repeat(60_000) });
      const page = new OwnPage(receiver.adminOrigin);
      const cookie = (await page.signIn(TOKEN)).headers.get("set-cookie")?.split(";")[0] ?? "";
      const [own, other] = await Promise.all(
        [{ cookie }, headers].map(async (sent) => {
          const request = get(`${receiver.adminOrigin}/api/v1/callbacks/export`, { headers: sent });
          const [response] = await once(request, "response");
          return response.pause();
        }),
      );
      expect((await page.ask("DELETE", "/api/v1/session")).status).toBe(204);
      await expect(text(own)).rejects.toThrow("aborted");
      expect((await text(other)).trimEnd().split("\n")).toHaveLength(300);
    }),
  );

  it("an export ends with its reader and with the process", () =>
    withDatabase("sqlite", async (target) => {
      const receiver = await startReceiver(target);
      await append(target, 300, { requestBody: "x".repeat(60_000) });
      const [first, second] = await Promise.all(
        [1, 2].map(async () => {
          const request = get(`${receiver.adminOrigin}/api/v1/callbacks/export`, { headers });
          const [response] = await once(request, "response");
          response.pause();
          response.on("error", () => {});
          return response;
        }),
      );
      first.destroy();
      await receiver.stop();
      expect(second.complete).toBe(false);
      expect(receiver.lines.filter(({ level }) => level === "error")).toEqual([]);
    }));

  it.each([
    ["?format=xml", /^format: got "xml", expected one of /],
    ["?limit=10", /^there is no query parameter "limit"; there are format, from, to/],
  ])("an export with %s is rejected with the reason", (query, says) =>
    withReceiver("sqlite", async (receiver) => {
      const answer = await receiver.admin(`/api/v1/callbacks/export${query}`);
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(says)]);
    }),
  );
});
