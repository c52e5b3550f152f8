import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { idleListener, routesOf } from "../support/admin-listener.ts";
import { describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { conforms, openapi } from "../support/openapi.ts";
import { event, payment, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";

const failing = { now: true };
const handlers = [
  defineHandler({
    type: "unreliable",
    data: z.object({}),
    async handle({ event, tx }) {
      await tx.query
        .insertInto("orders")
        .values({
          order_id: event.event_id,
          status: "new",
          amount: 1,
          event_id: "-",
          updated_at: new Date().toISOString(),
        })
        .execute();
      if (failing.now) throw new Error("down");
      return { done: true };
    },
  }),
];
const REPLAY = "/api/v1/failures/{source}/{event_id}/replay";

async function failOne(receiver: TestReceiver, id = "evt/with slash é"): Promise<string> {
  failing.now = true;
  expect((await receiver.send(event("unreliable", {}, { event_id: id }))).status).toBe(500);
  return `/api/v1/failures/platform/${encodeURIComponent(id)}`;
}

describeFullOnPostgres("the admin API on %s", (dialect) => {
  it("the admin API lists callbacks, events and failures as documented", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(payment());
        await receiver.send(payment(), { secret: "z".repeat(32) });
        await failOne(receiver);
        for (const path of ["/api/v1/callbacks", "/api/v1/events", "/api/v1/failures"]) {
          const answer = await receiver.admin(path);
          expect(answer.status).toBe(200);
          conforms(path, "get", answer);
          expect((answer.body.items as unknown[]).length).toBeGreaterThan(0);
        }
      },
      { handlers },
    ));

  it("the admin API pages by cursor without a gap or a repetition", () =>
    withReceiver(dialect, async (receiver) => {
      const ids = [];
      for (let index = 0; index < 7; index += 1) {
        const sent = payment();
        ids.unshift(sent.event_id);
        await receiver.send(sent);
      }
      const seen: unknown[] = [];
      let cursor: unknown = null;
      do {
        const next: string = cursor === null ? "" : `&cursor=${cursor}`;
        const { body } = await receiver.admin(`/api/v1/callbacks?limit=3${next}`);
        seen.push(...(body.items as { event_id: string }[]).map(({ event_id }) => event_id));
        cursor = body.next_cursor;
      } while (cursor !== null);
      expect(seen).toEqual(ids);
    }));

  it("the admin API finds the callbacks of one event", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = payment();
      await receiver.send(sent);
      await receiver.send(sent);
      await receiver.send(payment());
      const { body } = await receiver.admin(`/api/v1/callbacks?event_id=${sent.event_id}`);
      expect((body.items as { outcome: string }[]).map(({ outcome }) => outcome)).toEqual([
        "already_processed",
        "success",
      ]);
    }));

  it("the admin API lists the failures that a filter finds", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await failOne(receiver, "e1");
        const found = async (query: string) => {
          const answer = await receiver.admin(`/api/v1/failures?${query}`);
          conforms("/api/v1/failures", "get", answer);
          return (answer.body.items as unknown[]).length;
        };
        const right = ["source=platform", "event_type=unreliable", "code=handler_failed", "state=waiting"];
        for (const query of [...right, right.join("&")]) expect([query, await found(query)]).toEqual([query, 1]);
        const wrong = ["source=oauth", "event_type=reliable", "code=handler_timed_out", "state=exhausted"];
        for (const query of wrong) expect([query, await found(query)]).toEqual([query, 0]);
      },
      { handlers },
    ));

  it("the admin API shows by a dry run what a replay would do, and changes nothing", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const path = await failOne(receiver);
        failing.now = false;
        const answer = await receiver.admin(`${path}/replay?dry_run=true`, { method: "POST" });
        conforms(REPLAY, "post", answer);
        expect(answer.body).toMatchObject({ outcome: "success", result: { done: true }, dry_run: true });
        expect(await receiver.count("oncehook_records")).toBe(0);
        expect(await receiver.count("orders")).toBe(0);
        expect(await receiver.count("oncehook_failures", "attempts = 1")).toBe(1);
      },
      { handlers },
    ));

  it("the admin API replays a failure once: the second replay finds nothing left to do", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const path = await failOne(receiver);
        const still = await receiver.admin(`${path}/replay`, { method: "POST" });
        conforms(REPLAY, "post", still);
        expect(still.body).toMatchObject({ outcome: "handler_failed", dry_run: false });
        failing.now = false;
        const answer = await receiver.admin(`${path}/replay`, { method: "POST" });
        expect(answer.body).toEqual({ outcome: "success", result: { done: true }, dry_run: false });
        expect(await receiver.count("orders")).toBe(1);
        const gone = await receiver.admin(`${path}/replay`, { method: "POST" });
        conforms(REPLAY, "post", gone);
        expect(gone.status).toBe(404);
      },
      { handlers },
    ));

  it("the admin API runs one of several replays that are asked for at once", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const path = await failOne(receiver);
        failing.now = false;
        const answers = await Promise.all(
          Array.from({ length: 8 }, () => receiver.admin(`${path}/replay`, { method: "POST" })),
        );
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
        for (const answer of answers) conforms(REPLAY, "post", answer);
        expect(await receiver.count("orders")).toBe(1);
      },
      { handlers },
    ));

  it("the admin API does not discard a failure that is being run, since its effect could still happen", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const path = await failOne(receiver);
        await execute(
          receiver.target,
          "UPDATE oncehook_failures SET lease_owner = 'a', leased_until = '2999-01-01T00:00:00.000Z'",
        );
        const answer = await receiver.admin(path, { method: "DELETE" });
        expect(answer.status).toBe(409);
        conforms("/api/v1/failures/{source}/{event_id}", "delete", answer);
        expect(await receiver.count("oncehook_failures")).toBe(1);
      },
      { handlers },
    ));

  it("the admin API discards a failure", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const path = await failOne(receiver);
        expect((await receiver.admin(path, { method: "DELETE" })).status).toBe(204);
        expect((await receiver.admin(path, { method: "DELETE" })).status).toBe(404);
      },
      { handlers },
    ));
});

/** The address exactly as it is written; `fetch` would tidy it up. */
function raw(receiver: TestReceiver, method: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(receiver.adminOrigin);
  return new Promise((resolve, reject) => {
    request({ hostname, port, method, path }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

describe("the admin listener", () => {
  it.each([
    "/api/v1/events",
    "/%61pi/events",
    "/%61%70%69/callbacks",
    "http://x/api/v1/events",
    "//api/v1/events",
    "/api/v1/none",
  ])("the admin listener returns 401 without the token, in every spelling of the address: %s", (path) =>
    withReceiver("sqlite", async (receiver) => {
      for (const method of ["GET", "POST", "DELETE"])
        expect([method, await raw(receiver, method, path)]).toEqual([method, 401]);
    }),
  );

  it("the admin listener serves exactly the routes that docs/openapi.json documents", () =>
    withDatabase("sqlite", async (target) => {
      const receiver = await startReceiver(target);
      for (const [path, operations] of Object.entries<Record<string, object>>(openapi.paths)) {
        for (const [method, described] of Object.entries(operations)) {
          // It would be read for ever; test/admin/live.test.ts does.
          if (JSON.stringify(described).includes("text/event-stream")) continue;
          const url = path.replace("{source}", "s").replace("{event_id}", "e").replace("{id}", "1");
          const { status, body } = await receiver.admin(url, { method: method.toUpperCase() });
          expect([status, body.error], `${method} ${path}`).not.toEqual([404, "not found"]);
        }
      }
      const app = idleListener();
      const documented = Object.entries<Record<string, unknown>>(openapi.paths).flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
      );
      // Addresses of the page are no part of the API; test/dashboard/ holds them.
      const routes = (await routesOf(app)).filter(({ path }) => /^\/api\/|^\/(?:healthz|readyz|metrics)$/.test(path));
      const served = routes.map(({ method, path }) => `${method} ${path}`);
      expect(served.sort()).toEqual(documented.sort());
      await app.close();
      await receiver.stop();
    }));

  it.each([
    "/api/v1/callbacks",
    "/api/v1/events",
    "/api/v1/failures",
    "/api/v1/failures/s/e/replay",
    "/api/v1/oauth/states",
    "/api/v1/none",
  ])("the admin listener returns 401 without the token: %s", (path) =>
    withReceiver("sqlite", async (receiver) => {
      for (const authorization of ["", "Bearer wrong", "Basic dGVzdA==", "Bearer "]) {
        const answer = await receiver.admin(path, { headers: { authorization } });
        expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="admin"']);
      }
    }),
  );

  it.each(["limit=0", "limit=201", "limit=x", "cursor=abc", "cursor=-1", "nonsense=1"])(
    "the admin API refuses ?%s and says why",
    (query) =>
      withReceiver("sqlite", async (receiver) => {
        const answer = await receiver.admin(`/api/v1/callbacks?${query}`);
        expect(answer.status).toBe(400);
        conforms("/api/v1/callbacks", "get", answer);
      }),
  );

  it.each([
    ["/api/v1/events?id=1", 'there is no query parameter "id"; there are limit, cursor, source, event_id'],
    [
      "/api/v1/failures?status=waiting",
      'there is no query parameter "status"; there are limit, cursor, state, source, event_type, code, problem, bulk_replay, event_id',
    ],
  ])("a response names a query parameter that does not exist: %s", (path, error) =>
    withReceiver("sqlite", async (receiver) => {
      const answer = await receiver.admin(path);
      expect([answer.status, answer.body]).toEqual([400, { error }]);
    }),
  );

  it("the admin API answers a path that it cannot read in the shape of its other errors, and repeats none of it", () =>
    withReceiver("sqlite", async (receiver) => {
      const long = await receiver.admin(`/api/v1/events/platform/${"x".repeat(9_000)}`);
      const broken = await receiver.admin("/api/v1/events/platform/%zz");
      expect([long.status, long.body]).toEqual([414, { error: expect.stringContaining("at most 1024") }]);
      expect([broken.status, broken.body]).toEqual([400, { error: "the path cannot be decoded" }]);
    }));

  it("the admin API answers health, readiness and metrics without a token", () =>
    withReceiver("sqlite", async (receiver) => {
      await receiver.send(payment());
      const open = { headers: { authorization: "" } };
      expect((await receiver.admin("/healthz", open)).body).toEqual({ status: "ok" });
      expect((await receiver.admin("/readyz", open)).body).toEqual({ status: "ready" });
      expect((await receiver.admin("/metrics", open)).body.text).toContain(
        'callback_requests_total{event_type="payment_notify",status="200"} 1',
      );
    }));
});
