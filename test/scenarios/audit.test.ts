import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { idleListener, routesOf } from "../support/admin-listener.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { conforms } from "../support/openapi.ts";
import { OwnPage } from "../support/own-page.ts";
import { event, payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const turns: { run: () => Promise<void> | void } = { run: () => {} };
const handlers = [
  defineHandler({
    type: "unreliable",
    data: z.object({}),
    async handle() {
      await turns.run();
      return {};
    },
  }),
];
const FAILURE = "/api/v1/failures/platform/f%2F1";

async function failOne(receiver: TestReceiver): Promise<void> {
  turns.run = () => {
    throw new Error("down");
  };
  expect((await receiver.send(event("unreliable", {}, { event_id: "f/1" }))).status).toBe(500);
}

interface Entry {
  readonly action: string;
  readonly target: string | null;
  readonly outcome: string | null;
}

async function entries(receiver: TestReceiver, query = ""): Promise<Entry[]> {
  const answer = await receiver.admin(`/api/v1/audit${query}`);
  conforms("/api/v1/audit", "get", answer);
  return answer.body.items as Entry[];
}

describeFullOnPostgres("the audit log on %s", (dialect) => {
  it("the audit log records actor, action, target, address and outcome", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await failOne(receiver);
        await receiver.admin(`${FAILURE}/replay?dry_run=true`, { method: "POST" });
        await receiver.admin(`${FAILURE}/replay`, { method: "POST" });
        await receiver.admin(FAILURE, { method: "DELETE" });
        await receiver.admin(FAILURE, { method: "DELETE" });
        const common = {
          actor: "token",
          role: "operator",
          remote_address: "127.0.0.1",
          target: "platform/f/1",
        };
        expect(await entries(receiver)).toMatchObject([
          { ...common, action: "failure.discard", detail: null, outcome: "refused" },
          { ...common, action: "failure.discard", detail: null, outcome: "done" },
          { ...common, action: "failure.replay", detail: { dry_run: false }, outcome: "done" },
          { ...common, action: "failure.dry_run", detail: { dry_run: true }, outcome: "done" },
        ]);
        expect(await entries(receiver, "?action=failure.dry_run&actor=token")).toHaveLength(1);
        expect(await entries(receiver, "?action=failure.replay&actor=token&limit=1")).toHaveLength(1);
        expect(await entries(receiver, "?actor=ada@example.com")).toEqual([]);
      },
      { handlers },
    ));

  it("the audit log records a change before it is made, and its outcome although the client has left", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await failOne(receiver);
        const begun = Promise.withResolvers<void>();
        const gate = Promise.withResolvers<void>();
        turns.run = () => {
          begun.resolve();
          return gate.promise;
        };
        const leaving = new AbortController();
        const replaying = receiver
          .admin(`${FAILURE}/replay`, { method: "POST", signal: leaving.signal })
          .catch(() => "left");
        await begun.promise;
        expect(await entries(receiver)).toMatchObject([{ action: "failure.replay", outcome: null }]);
        leaving.abort();
        expect(await replaying).toBe("left");
        gate.resolve();
        await until(async () => (await entries(receiver))[0]?.outcome === "done");
      },
      { handlers },
    ));

  it("the audit log says of a change that the database could not make that it failed", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await execute(receiver.target, "DROP TABLE oncehook_failures");
        expect((await receiver.admin(FAILURE, { method: "DELETE" })).status).toBe(500);
        expect(await entries(receiver)).toMatchObject([{ action: "failure.discard", outcome: "failed" }]);
      },
      { handlers },
    ));

  it("a sign-in whose session cannot be stored returns 503, and is failed in the audit log", () =>
    withReceiver(dialect, async (receiver) => {
      await execute(receiver.target, "DROP TABLE oncehook_sessions");
      const refused = await new OwnPage(receiver.adminOrigin).signIn(TOKEN);
      expect([refused.status, refused.headers.get("set-cookie")]).toEqual([503, null]);
      expect(await entries(receiver)).toMatchObject([{ action: "session.begin", outcome: "failed" }]);
    }));

  it("a change or a sign-in is refused where the audit log cannot be written", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await failOne(receiver);
        await execute(receiver.target, "DROP TABLE oncehook_audit");
        const answer = await receiver.admin(FAILURE, { method: "DELETE" });
        conforms("/api/v1/failures/{source}/{event_id}", "delete", answer);
        expect([answer.status, await receiver.count("oncehook_failures")]).toEqual([503, 1]);
        const refused = await new OwnPage(receiver.adminOrigin).signIn(TOKEN);
        conforms("/api/v1/session", "post", refused);
        expect([refused.status, refused.headers.get("set-cookie")]).toEqual([503, null]);
        expect(await receiver.count("oncehook_sessions")).toBe(0);
        expect((await receiver.admin("/api/v1/failures")).status).toBe(200);
      },
      { handlers },
    ));
});

/** What a route wants in its body; one that is missing here is answered 400. */
const BODIES: Readonly<Record<string, object>> = {
  "/api/v1/problems/{id}/mute": { until: new Date(Date.now() + 3_600_000).toISOString(), reason: "a test" },
  "/api/v1/erasures": { path: "customer", value: "cus_1" },
  "/api/v1/alerts/mute": {
    ...{ kind: "failures", source: "shop", reason: "a test" },
    until: new Date(Date.now() + 3_600_000).toISOString(),
  },
  "/api/v1/alerts/unmute": { kind: "failures", source: "shop" },
  "/api/v1/sources/{source}/relearn": { forget: false },
  "/api/v1/sandbox/events": { body: "{}" },
  "/api/v1/sandbox/sources/{source}/events": { type: "1", body: "{}" },
  "/api/v1/bulk-replays": { filter: {} },
  "/api/v1/events/{source}/{event_id}/replay": { reason: "a test" },
  "/api/v1/backfills": { handler: "shop", since: "2026-01-01T00:00:00Z" },
  "/api/v1/oauth/states": { state: "0123456789abcdef-of-a-flow", expires_in: 60 },
};
/** Who signs in is known only afterwards, and is written down by the route itself. */
const BY_ITSELF: ReadonlySet<string> = new Set(["/api/v1/session"]);

describe("the audit log", () => {
  it("the audit log records every change by an admin route, under a name of its own", () =>
    withReceiver("sqlite", async (receiver) => {
      const routes = (await routesOf(idleListener())).filter(({ method }) => method !== "GET");
      expect(routes.length).toBeGreaterThan(5);
      const names = new Map<string, string>();
      for (const { method, path } of routes) {
        if (method === "POST" && BY_ITSELF.has(path)) continue;
        const body = BODIES[path];
        const { status } = await receiver.admin(path.replace(/\{\w+\}/g, "1"), {
          method,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          headers: body === undefined ? {} : { "content-type": "application/json" },
        });
        expect(`${status} to ${method} ${path}`).not.toMatch(/^400 /);
        const [newest] = await entries(receiver, "?limit=1");
        const name = newest?.action ?? "nothing";
        expect([name, names.get(name)]).toEqual([name, undefined]);
        names.set(name, `${method} ${path}`);
        expect(newest?.outcome).not.toBeNull();
      }
      expect(names.size).toBe(routes.length - BY_ITSELF.size);
      // The entry of a start names what it has made.
      expect((await entries(receiver, "?action=bulk_replay.start"))[0]?.target).toBe("1");
    }));

  it("a route that changes something without naming its audit action fails at start", () => {
    const app = idleListener();
    expect(() => app.post("/api/v1/anything", async () => ({}))).toThrow(
      "POST /api/v1/anything: its operation names no action for the audit log",
    );
    expect(() => app.get("/api/v1/anything", async () => ({}))).not.toThrow();
  });

  it("the audit log holds no state of a flow, nor what else the body of a request holds", () =>
    withReceiver("sqlite", async (receiver) => {
      const body = JSON.stringify(BODIES["/api/v1/oauth/states"]);
      const headers = { "content-type": "application/json" };
      await receiver.admin("/api/v1/oauth/states", { method: "POST", body, headers });
      expect(await entries(receiver)).toMatchObject([
        { action: "oauth_state.expect", target: null, detail: { expires_in: 60 }, outcome: "done" },
      ]);
    }));

  it("the audit log records a sign-in and a sign-out under the session, and not under the token beside it", () =>
    withReceiver("sqlite", async (receiver) => {
      const page = new OwnPage(receiver.adminOrigin);
      await page.signIn(TOKEN);
      await page.ask("DELETE", "/api/v1/session");
      expect(await entries(receiver)).toMatchObject([
        { action: "session.end", actor: "token", role: "operator", outcome: "done" },
        {
          action: "session.begin",
          actor: "token",
          role: "operator",
          detail: { by: "token" },
          outcome: "done",
        },
      ]);
    }));

  it("the audit log records neither callbacks nor reads", () =>
    withReceiver("sqlite", async (receiver) => {
      await receiver.send(payment());
      await receiver.admin("/api/v1/callbacks");
      expect(await entries(receiver)).toEqual([]);
    }));
});
