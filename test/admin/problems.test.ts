import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { event, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

interface Problem {
  readonly id: string;
  readonly title: string;
  readonly count: number;
  readonly state: string;
}

const broken = new Set<string>();
const handlers = ["invoice", "order"].map((type) =>
  defineHandler({
    type,
    data: z.object({}),
    handle({ event: { event_id } }) {
      if (broken.has(type)) throw new TypeError(`no row for ${event_id}`);
      if (broken.has(event_id)) throw new Error("still down");
      return Promise.resolve({});
    },
  }),
);

describeFullOnPostgres("the problems of the admin API on %s", (dialect) => {
  const withFailures = (use: (receiver: TestReceiver) => Promise<void>) =>
    withReceiver(
      dialect,
      async (receiver) => {
        broken.add("invoice").add("order");
        for (const id of ["evt_1", "evt_2", "evt_3"]) await receiver.send(event("invoice", {}, { event_id: id }));
        await receiver.send(event("order", {}, { event_id: "evt_4" }));
        await use(receiver);
        broken.clear();
      },
      { handlers, bulkPollMs: 20, env: { RETRY_MAX: "0" } },
    );
  const list = async (receiver: TestReceiver, query = "") => {
    const { status, body } = await receiver.admin(`/api/v1/problems${query}`);
    expect(status).toBe(200);
    return (body as { items: Problem[] }).items;
  };
  const post = (receiver: TestReceiver, path: string, body?: object) =>
    receiver.admin(path, {
      method: "POST",
      ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
  const replay = async (receiver: TestReceiver, problem: string) => {
    const started = (await post(receiver, "/api/v1/bulk-replays", { filter: { problem } })).body as { id: number };
    const bulk = async () => (await receiver.admin(`/api/v1/bulk-replays/${started.id}`)).body as { state: string };
    await until(async () => (await bulk()).state === "done");
    return { ...started, ...(await bulk()) };
  };

  it("two causes of four failures are two problems, and a replay of one resolves only that", () =>
    withFailures(async (receiver) => {
      const [invoice, order] = await list(receiver);
      expect([invoice?.count, order?.count]).toEqual([3, 1]);
      expect(invoice?.title).toMatch(/^invoice of platform failed: TypeError: no row for evt_\d$/);
      const overview = (await receiver.admin("/api/v1/overview")).body as { problems: object };
      expect(overview.problems).toMatchObject({ open: 2, top: [{ id: invoice?.id, count: 3 }, { id: order?.id }] });
      broken.delete("invoice");
      expect(await replay(receiver, invoice?.id ?? "")).toMatchObject({ total: 3, succeeded: 3, failed: 0 });
      expect(await list(receiver, "?state=open")).toMatchObject([{ id: order?.id, count: 1 }]);
      expect(await list(receiver, "?state=resolved")).toMatchObject([{ id: invoice?.id, count: 0 }]);
    }));

  it("a bulk replay of which one failed again has a list of exactly that one", () =>
    withFailures(async (receiver) => {
      const [invoice] = await list(receiver);
      broken.delete("invoice");
      broken.add("evt_2");
      const bulk = await replay(receiver, invoice?.id ?? "");
      expect(bulk).toMatchObject({ succeeded: 2, failed: 1 });
      const failed = (await receiver.admin(`/api/v1/failures?bulk_replay=${bulk.id}`)).body as { items: object[] };
      expect(failed.items).toMatchObject([{ event_id: "evt_2", error: expect.stringContaining("still down") }]);
    }));

  it("one problem has its events in pages, and an unknown one is absent", () =>
    withFailures(async (receiver) => {
      const [invoice] = await list(receiver);
      const page = async (query: string) =>
        (await receiver.admin(`/api/v1/problems/${invoice?.id}?limit=2${query}`)).body as {
          problem: Problem;
          events: { event_id: string }[];
          next_cursor: string | null;
        };
      const first = await page("");
      expect(first).toMatchObject({
        problem: { id: invoice?.id, count: 3, remedy: expect.stringContaining("dry run") },
        events: [
          { event_id: "evt_3", state: "exhausted", error: "TypeError: no row for evt_3" },
          { event_id: "evt_2" },
        ],
      });
      expect(await page(`&cursor=${first.next_cursor}`)).toMatchObject({
        events: [{ event_id: "evt_1" }],
        next_cursor: null,
      });
      expect((await receiver.admin("/api/v1/problems/none")).status).toBe(404);
      expect((await post(receiver, "/api/v1/bulk-replays", { filter: { problem: "none" } })).status).toBe(404);
      expect((await post(receiver, `/api/v1/problems/${invoice?.id}/deliver`)).status).toBe(409);
    }));

  it("a muted problem shows by whom and why, is audited, and the mute can be ended", () =>
    withFailures(async (receiver) => {
      const [invoice] = await list(receiver);
      const path = `/api/v1/problems/${invoice?.id}`;
      const soon = new Date(Date.now() + 3_600_000).toISOString();
      for (const until of [new Date(0).toISOString(), "2999-01-01T00:00:00Z"])
        expect((await post(receiver, `${path}/mute`, { until, reason: "known" })).status).toBe(400);
      const muted = await post(receiver, `${path}/mute`, { until: soon, reason: "the shop is mended at five" });
      expect(muted.body).toMatchObject({ state: "muted", muted_until: soon, muted_by: "token" });
      expect((await list(receiver, "?state=open")).map(({ count }) => count)).toEqual([1]);
      const { items } = (await receiver.admin("/api/v1/audit?action=problem.mute")).body as { items: object[] };
      const detail = expect.objectContaining({ reason: "the shop is mended at five", until: soon });
      expect(items).toContainEqual(expect.objectContaining({ actor: "token", outcome: "done", detail }));
      expect((await post(receiver, `${path}/unmute`)).body).toMatchObject({ state: "open", muted_by: null });
    }));
});
