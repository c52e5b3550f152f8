import type { RequestListener } from "node:http";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { AdminError, createAdminClient, paginate } from "../../src/admin-client/index.ts";
import { defineHandler } from "../../src/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { withHttpServer } from "../support/http-server.ts";
import { event, payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";
import { UserAgent } from "../support/user-agent.ts";

const failing = { now: true };
const handlers = [
  defineHandler({
    type: "unreliable",
    data: z.object({}),
    handle() {
      if (failing.now) throw new Error("down");
      return { done: true };
    },
  }),
];
const clientOf = ({ adminOrigin }: TestReceiver) => createAdminClient({ origin: adminOrigin, token: TOKEN });

describeFullOnPostgres("the admin client on %s", (dialect) => {
  it("the admin client lists what came in, and finds one event", () =>
    withReceiver(dialect, async (receiver) => {
      await receiver.send(payment({ event_id: "a/b é" }));
      await receiver.send(payment());
      const client = clientOf(receiver);
      const { items, next_cursor } = await client.events.list({ event_id: "a/b é" });
      expect([items.length, items[0]?.status, next_cursor]).toEqual([1, "completed", null]);
      const { items: callbacks } = await client.callbacks.list({ event_id: "a/b é" });
      expect(callbacks.map(({ outcome }) => outcome)).toEqual(["success"]);
    }));

  it("the list of events takes the source of a named handler", () => {
    const audit = defineHandler({
      type: "payment_notify",
      name: "audit",
      data: z.looseObject({}),
      handle: () => ({ by: "audit" }),
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(payment({ event_id: "e1" }));
        const { items, next_cursor } = await clientOf(receiver).events.list({ source: "platform#audit" });
        expect(items).toMatchObject([{ source: "platform#audit", event_id: "e1", result: { by: "audit" } }]);
        expect(next_cursor).toBeNull();
      },
      { handlers: [...handlers, audit] },
    );
  });

  it("the client walks through a list page by page, without a gap or a repetition", () =>
    withReceiver(dialect, async (receiver) => {
      for (let at = 0; at < 7; at += 1) await receiver.send(payment({ event_id: `e${at}` }));
      const client = clientOf(receiver);
      const seen: string[] = [];
      for await (const { event_id } of paginate((paging) => client.events.list({ ...paging, limit: 3 })))
        seen.push(event_id);
      expect(seen).toEqual(["e6", "e5", "e4", "e3", "e2", "e1", "e0"]);
    }));

  it("the client tries a failure, replays it, and discards another", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        failing.now = true;
        await receiver.send(event("unreliable", {}, { event_id: "x 1" }));
        await receiver.send(event("unreliable", {}, { event_id: "x 2" }));
        const client = clientOf(receiver);
        const key = { source: "platform", event_id: "x 1" };
        expect(await client.failures.replay(key, { dry_run: true })).toMatchObject({
          outcome: "handler_failed",
          dry_run: true,
        });
        failing.now = false;
        expect(await client.failures.replay(key)).toEqual({
          outcome: "success",
          result: { done: true },
          dry_run: false,
        });
        expect(await client.failures.discard({ ...key, event_id: "x 2" })).toBeUndefined();
        expect((await client.failures.list({ state: "waiting" })).items).toEqual([]);
      },
      { handlers },
    ));

  it.each([".", "..", "~.", "~~..", "~x", "%2e", "a/../b"])(
    "the client looks at, replays and discards an event of the id %s",
    (event_id) =>
      withReceiver(
        dialect,
        async (receiver) => {
          const client = clientOf(receiver);
          const key = { source: "platform", event_id };
          failing.now = true;
          await receiver.send(event("unreliable", {}, { event_id }));
          expect((await client.events.get("platform", event_id)).failure).toMatchObject(key);
          expect((await client.failures.replay(key)).outcome).toBe("handler_failed");
          await client.failures.discard(key);
          expect((await client.failures.list()).items).toEqual([]);
          const { items } = await client.audit.list({ action: "failure.discard" });
          expect(items).toMatchObject([{ target: `platform/${event_id}`, outcome: "done" }]);
          await expect(client.users.revokeTokens(event_id)).rejects.toThrow("there are no tokens of this user");
        },
        { handlers },
      ),
  );

  it("the admin client shows one event, and replays the failures of a filter", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        failing.now = true;
        await receiver.send(event("unreliable", {}, { event_id: "x/1 é" }));
        failing.now = false;
        const client = clientOf(receiver);
        const filter = { state: "exhausted", source: "platform", event_type: "unreliable" } as const;
        expect((await client.failures.list({ ...filter, code: "handler_failed" })).items).toHaveLength(1);
        const begun = await client.bulkReplays.start({ filter });
        expect(begun).toMatchObject({ filter, per_second: 10, state: "running", total: 1 });
        expect(await client.bulkReplays.pause(begun.id)).toMatchObject({ state: "paused" });
        expect(await client.bulkReplays.resume(begun.id)).toMatchObject({ state: "running" });
        await until(async () => (await client.bulkReplays.get(begun.id)).state === "done");
        const { items } = await client.bulkReplays.list();
        expect(items).toMatchObject([{ id: begun.id, done: 1, succeeded: 1 }]);
        await expect(client.bulkReplays.cancel(begun.id)).rejects.toMatchObject({ status: 409 });
        const history = await client.events.get("platform", "x/1 é");
        expect(history.timeline.map(({ kind }) => kind)).toEqual(["attempt", "attempt", "record"]);
        await expect(client.events.get("oauth", "x/1 é")).rejects.toMatchObject({ status: 404 });
      },
      { handlers, bulkPollMs: 20, env: { RETRY_MAX: "0" } },
    ));

  it("the admin client lists notifications, and says why one cannot be replayed", () =>
    withReceiver(dialect, async (receiver) => {
      await receiver.send(payment());
      const client = clientOf(receiver);
      const [one] = (await client.notifications.list()).items;
      await expect(client.notifications.replay(Number(one?.id))).rejects.toMatchObject({
        name: "AdminError",
        status: 404,
        message: "this notification has no failed delivery",
      });
    }));
});

describe("the admin client", () => {
  it("the admin client says what the receiver says of a wrong token and of a wrong parameter", () =>
    withReceiver("sqlite", async (receiver) => {
      const stranger = createAdminClient({ origin: receiver.adminOrigin, token: "wrong" });
      await expect(stranger.events.list()).rejects.toMatchObject({ status: 401 });
      const refusal = clientOf(receiver).events.list({ limit: 0 });
      await expect(refusal).rejects.toThrow("expected a whole number from 1 to 200");
      await expect(refusal).rejects.toBeInstanceOf(AdminError);
    }));

  it("the client expects a state and ends tokens as the API does", () =>
    withReceiver("sqlite", async (receiver) => {
      const client = clientOf(receiver);
      const { expires_at } = await client.oauth.expectState({ state: "0123456789abcdef", expires_in: 60 });
      expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
      await expect(client.users.revokeTokens("nobody")).rejects.toMatchObject({ status: 404 });
    }));

  it("the client signs in, acts and signs out by the cookie only, as in the receiver's own page", () =>
    withReceiver("sqlite", async ({ adminOrigin }) => {
      const agent = new UserAgent();
      const asked: (RequestInit | undefined)[] = [];
      const page: typeof fetch = (url, init) => {
        asked.push(init);
        const headers = { ...init?.headers, "sec-fetch-site": "same-origin" } as Record<string, string>;
        return agent.request(String(url), { ...init, headers });
      };
      const client = createAdminClient({ origin: adminOrigin, fetch: page });
      expect(await client.session.methods()).toMatchObject({ methods: ["token"] });
      await expect(client.session.get()).rejects.toMatchObject({ status: 401 });
      await expect(client.session.start({ token: "wrong-token" })).rejects.toThrow("neither ADMIN_TOKEN nor");
      const session = await client.session.start({ token: TOKEN });
      expect(await client.session.get()).toEqual(session);
      expect(await client.session.end()).toBeUndefined();
      await expect(client.audit.list()).rejects.toMatchObject({ status: 401 });
      expect(new Set(asked.map((init) => init?.credentials))).toEqual(new Set(["same-origin"]));
    }));

  it("the admin client lists who did what, of one action or of one person", () =>
    withReceiver("sqlite", async (receiver) => {
      const client = clientOf(receiver);
      await expect(client.failures.discard({ source: "platform", event_id: "none" })).rejects.toThrow();
      const { items } = await client.audit.list({ action: "failure.discard", actor: "token" });
      expect(items).toMatchObject([{ target: "platform/none", outcome: "refused" }]);
      expect((await client.audit.list({ actor: "nobody" })).items).toEqual([]);
      expect(await client.session.get()).toMatchObject({
        actor: "token",
        role: "operator",
        expires_at: null,
      });
    }));

  it("the admin client follows no redirect with its token, and takes no page for an answer", async () => {
    const asked: (string | undefined)[] = [];
    const answer: RequestListener = (request, response) => {
      asked.push(request.headers.authorization);
      if (request.url?.includes("events") === true) response.writeHead(302, { location: "/elsewhere" }).end();
      else response.end("<html>");
    };
    await withHttpServer(answer, async (origin) => {
      const client = createAdminClient({ origin, token: TOKEN });
      await expect(client.events.list()).rejects.toThrow();
      await expect(client.failures.list()).rejects.toMatchObject({ status: 200, isOtherServer: true });
      expect(asked).toHaveLength(2);
    });
  });
});
