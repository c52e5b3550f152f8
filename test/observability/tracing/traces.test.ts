import { setImmediate as nextTurn } from "node:timers/promises";
import { trace } from "@opentelemetry/api";
import { afterEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineHandler, type Migration, Rejected, sql } from "../../../src/index.ts";
import { describeFullOnPostgres } from "../../support/databases.ts";
import { EFFECTS } from "../../support/effects.ts";
import { event, payment, SECRET } from "../../support/receiver.ts";
import { withTraced } from "../../support/traced-receiver.ts";
import { until } from "../../support/until.ts";

const ROOT = "POST /api/platform/callback";
const PARENT = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const traceparent = `00-${PARENT.traceId}-${PARENT.spanId}-01`;
const ERROR = 2;

/** Fails as often as it is told to. */
function failing(times: number, error: () => Error = () => new Error("the stock service is down")) {
  let left = times;
  return defineHandler({
    type: "failing",
    data: z.object({}),
    handle({ log }) {
      log.info({ step: "counted" }, "at work");
      left -= 1;
      if (left >= 0) throw error();
      return { done: true };
    },
  });
}

const prepared = defineHandler({
  type: "prepared",
  data: z.object({}),
  prepare: async () => ({ token: "t" }),
  handle: () => ({}),
});

/** Its key is checked by the commit, which fails. */
function orphans() {
  const validated = Promise.withResolvers<void>();
  const handler = defineHandler({
    type: "orphan",
    data: z.object({}).refine(() => {
      validated.resolve();
      return true;
    }),
    migrations: [EFFECTS],
    async handle({ tx }) {
      await tx.query.insertInto("children").values({ parent_id: 404 }).execute();
      return {};
    },
  });
  return { handler, validated: validated.promise };
}

/** Its transaction stays open until it is released. */
function held() {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const handler = defineHandler({
    type: "held",
    data: z.object({}),
    async handle() {
      begun.resolve();
      await released.promise;
      return {};
    },
  });
  return { handler, begun: begun.promise, release: released.resolve };
}

/** What a handler does whose author has installed @opentelemetry/api. */
const charging = defineHandler({
  type: "charging",
  data: z.object({}),
  async handle({ event: { event_id }, tx }) {
    await tx.query.selectFrom("oncehook_records").select("event_id").execute();
    trace.getTracer("shop").startActiveSpan(`charge ${event_id}`, (span) => span.end());
    return {};
  },
});

/** No failure can be stored. */
const REFUSED_FAILURES: Migration = {
  name: "refused-failures",
  async up({ query, dialect }) {
    const statements = {
      sqlite: [
        `CREATE TRIGGER refused_failures BEFORE INSERT ON oncehook_failures
          BEGIN SELECT RAISE(ABORT, 'no failure is stored'); END`,
      ],
      postgres: [
        `CREATE FUNCTION refuse_failure() RETURNS trigger LANGUAGE plpgsql
          AS $$ BEGIN RAISE EXCEPTION 'no failure is stored'; END $$`,
        `CREATE TRIGGER refused_failures BEFORE INSERT ON oncehook_failures
          FOR EACH ROW EXECUTE FUNCTION refuse_failure()`,
      ],
    };
    for (const statement of statements[dialect]) await sql.raw(statement).execute(query);
  },
};

const lost = defineHandler({
  type: "lost",
  data: z.object({}),
  migrations: [REFUSED_FAILURES],
  handle: () => Promise.reject(new Error("the stock service is down")),
});

afterEach(() => vi.restoreAllMocks());

describeFullOnPostgres("the trace of a callback on %s", (dialect) => {
  it("the trace shows each phase below the request, and the request below its traceparent", () =>
    withTraced(dialect, async (receiver, collector) => {
      const sent = payment();
      const headers = { traceparent, tracestate: "vendor=opaque" };
      expect((await receiver.send(sent, { headers })).status).toBe(200);
      const found = await collector.trace(ROOT, { spans: ["commit"] });
      expect(found.root).toMatchObject({
        kind: 2,
        traceId: PARENT.traceId,
        parentSpanId: PARENT.spanId,
        traceState: "vendor=opaque",
      });
      expect(found.tree).toEqual([ROOT, "verify", "identify", ["once", "handler payment_notify", "commit"]]);
      expect(found.all.filter(({ status }) => status.code === ERROR)).toEqual([]);
      expect(found.root.attributes).toEqual({
        "http.request.method": "POST",
        "http.route": "/api/platform/callback",
        "http.response.status_code": 200,
        "url.path": "/api/platform/callback",
        "url.scheme": "http",
        "client.address": "127.0.0.1",
        "network.protocol.version": "1.1",
        "oncehook.source": "platform",
        "oncehook.event_id": sent.event_id,
        "oncehook.event_type": "payment_notify",
        "oncehook.outcome": "success",
      });
    }));

  it("the trace shows the phase prepare of a handler that has one", () =>
    withTraced(
      dialect,
      async (receiver, collector) => {
        await receiver.send(event("prepared", {}));
        const { tree } = await collector.trace(ROOT, { spans: ["commit"] });
        expect(tree).toEqual([ROOT, "verify", "identify", ["once", "prepare", "handler prepared", "commit"]]);
      },
      { handlers: [prepared] },
    ));

  it("a refused callback's trace ends with the span that refuses it, which is no internal error", () =>
    withTraced(dialect, async (receiver, collector) => {
      expect((await receiver.send(payment(), { secret: "another-secret-of-32-bytes-long!" })).status).toBe(401);
      const { root, tree, span } = await collector.trace(ROOT);
      expect(tree).toEqual([ROOT, "verify"]);
      expect(span("verify").attributes).toEqual({ "oncehook.outcome": "signature_mismatch" });
      expect(root.attributes).toMatchObject({ "http.response.status_code": 401 });
      expect([root.status.code ?? 0, root.attributes["error.type"]]).toEqual([0, undefined]);
    }));

  it("the trace of a duplicate says that the event was handled before", () =>
    withTraced(dialect, async (receiver, collector) => {
      const sent = payment();
      await receiver.send(sent);
      await receiver.send(sent, { headers: { traceparent } });
      const { root, tree } = await collector.trace(ROOT, { traceId: PARENT.traceId });
      expect(tree).toEqual([ROOT, "verify", "identify", "once"]);
      expect(root.attributes).toMatchObject({ "oncehook.outcome": "already_processed" });
    }));

  it("the trace shows a handler's error where it was thrown, with its secrets masked", () =>
    withTraced(
      dialect,
      async (receiver, collector) => {
        expect((await receiver.send(event("failing", {}))).status).toBe(500);
        const { root, tree, span } = await collector.trace(ROOT);
        expect(tree).toEqual([ROOT, "verify", "identify", ["once", "handler failing"]]);
        const [told, ...others] = span("handler failing").events;
        expect(others).toEqual([]);
        expect(told?.attributes).toMatchObject({ "exception.type": "Error" });
        expect(told?.attributes["exception.stacktrace"]).toMatch(/signed with .*\n[\s\S]*caused by: /);
        expect(JSON.stringify(collector.spans())).not.toContain(SECRET);
        expect(span("once").status.code).toBe(ERROR);
        expect(root).toMatchObject({
          status: { code: ERROR },
          events: [],
          attributes: { "error.type": "handler_failed", "http.response.status_code": 500 },
        });
      },
      { handlers: [failing(1, () => new Error(`signed with ${SECRET}`, { cause: new Error("why") }))] },
    ));

  it("the trace shows the error of each failed commit, also where the handler then runs again", () => {
    const [holder, { handler: orphan, validated }] = [held(), orphans()];
    return withTraced(
      dialect,
      async (receiver, collector) => {
        // A group ends at an age; by a clock that stands, the second event joins the first one's on SQLite.
        vi.spyOn(performance, "now").mockReturnValue(performance.now());
        const first = receiver.send(event("held", {}));
        await holder.begun;
        const second = receiver.send(event("orphan", {}), { headers: { traceparent } });
        await validated;
        await nextTurn();
        holder.release();
        expect([(await first).status, (await second).status]).toEqual([200, 500]);
        vi.restoreAllMocks();
        const { all } = await collector.trace(ROOT, { traceId: PARENT.traceId, spans: ["commit"] });
        const runs = all.filter(({ name }) => name === "handler orphan");
        const commits = all.filter(({ name }) => name === "commit");
        const errors = commits.map(({ events }) => events.map((one) => one.attributes["exception.type"]));
        // SQLite undoes a group whose commit fails, and each of its events runs again alone.
        const expected = dialect === "sqlite" ? [["TransactionLost"], ["StoreError"]] : [["StoreError"]];
        expect(errors).toEqual(expected);
        expect(runs).toHaveLength(expected.length);
      },
      { handlers: [holder.handler, orphan] },
    );
  });

  it("the trace of a rejected event has no error", () =>
    withTraced(
      dialect,
      async (receiver, collector) => {
        expect((await receiver.send(event("failing", {}))).status).toBe(400);
        const { span, all } = await collector.trace(ROOT);
        expect(span("handler failing").attributes).toEqual({ "oncehook.outcome": "rejected" });
        expect(all.filter(({ status }) => status.code === ERROR)).toEqual([]);
      },
      { handlers: [failing(1, () => new Rejected("no such order"))] },
    ));

  it("the trace of a retry gives a retry a trace of its own, with a link to the callback that failed", () =>
    withTraced(
      dialect,
      async (receiver, collector) => {
        const sent = event("failing", {});
        expect((await receiver.send(sent)).status).toBe(500);
        const first = await collector.trace(ROOT);
        const { root, tree } = await collector.trace("retry failing", { spans: ["commit"] });
        expect(tree).toEqual(["retry failing", "handler failing", "commit"]);
        expect(root.parentSpanId ?? "").toBe("");
        expect(root.traceId).not.toBe(first.root.traceId);
        expect(root.links).toMatchObject([{ traceId: first.root.traceId, spanId: first.root.spanId }]);
        expect(root.attributes).toMatchObject({
          "oncehook.event_id": sent.event_id,
          "oncehook.outcome": "success",
        });
      },
      { handlers: [failing(1)], retryPollMs: 20, env: { RETRY_DELAY_SECONDS: "0.1" } },
    ));

  it("the trace shows the dry run of a failure as one, and its rollback", () =>
    withTraced(
      dialect,
      async (receiver, collector) => {
        const sent = event("failing", {});
        await receiver.send(sent);
        const path = `/api/v1/failures/platform/${sent.event_id}/replay?dry_run=true`;
        expect((await receiver.admin(path, { method: "POST" })).status).toBe(200);
        expect((await collector.trace("dry-run failing")).tree).toEqual([
          "dry-run failing",
          "handler failing",
          "rollback",
        ]);
      },
      { handlers: [failing(1)], env: { RETRY_MAX: "0" } },
    ));

  it("the spans of a handler and of its commit belong to their own event, also for concurrent events", () =>
    withTraced(
      dialect,
      async (receiver, collector) => {
        const events = Array.from({ length: 24 }, () => event("charging", {}));
        await Promise.all(events.map((one) => receiver.send(one)));
        const ids = events.map(({ event_id }) => event_id);
        await until(() => collector.spans().filter(({ name }) => name === ROOT).length === ids.length);
        const spans = collector.spans();
        const parentOf = (id: string | undefined) => spans.find(({ spanId }) => spanId === id)!;
        for (const id of ids) {
          const own = spans.find(({ name }) => name === `charge ${id}`);
          const handler = parentOf(own?.parentSpanId);
          const root = parentOf(parentOf(handler.parentSpanId).parentSpanId);
          expect([handler.name, root.attributes["oncehook.event_id"]]).toEqual(["handler charging", id]);
          const phases = spans.filter(({ parentSpanId }) => parentSpanId === handler.parentSpanId);
          expect(phases.map(({ name }) => name)).toContain("commit");
        }
      },
      { handlers: [charging] },
    ));

  it("the line of a failure that could not be stored has the trace of its own event, also for concurrent events", () =>
    withTraced(
      dialect,
      async (receiver, collector) => {
        const ids = Array.from({ length: 12 }, () => event("lost", {}));
        await Promise.all(ids.map((one) => receiver.send(one)));
        await until(() => collector.spans().filter(({ name }) => name === ROOT).length === ids.length);
        for (const { event_id } of ids) {
          const isOwn = (line: { msg?: unknown; event_id?: unknown }) =>
            line.msg === "the failure could not be stored for a retry" && line.event_id === event_id;
          const root = collector.spans().find(({ attributes }) => attributes["oncehook.event_id"] === event_id);
          expect(receiver.lines.find(isOwn)).toMatchObject({ trace_id: root?.traceId });
        }
      },
      { handlers: [lost] },
    ));

  it("a trace stands in the lines of the log that belong to it", () =>
    withTraced(
      dialect,
      async (receiver, collector) => {
        await receiver.send(event("failing", {}));
        const { root, span } = await collector.trace(ROOT);
        const line = (msg: string) => receiver.lines.find((one) => one.msg === msg);
        const { traceId: trace_id } = root;
        expect(line("callback")).toMatchObject({ trace_id, span_id: root.spanId });
        expect(line("at work")).toMatchObject({ trace_id, span_id: span("handler failing").spanId });
      },
      { handlers: [failing(0)] },
    ));

  it("the trace of an OAuth redirect has its path and nothing of its query", () =>
    withTraced(dialect, async (receiver, collector) => {
      const path = "/api/platform/oauth-callback";
      const answer = await fetch(`${receiver.publicOrigin}${path}?code=canary-91c2&state=canary-91c2`);
      expect(answer.status).toBe(401);
      const { root, tree } = await collector.trace(`GET ${path}`);
      expect(tree).toEqual([`GET ${path}`, "verify"]);
      expect(root.attributes).toMatchObject({ "url.path": path, "oncehook.outcome": "state_unknown" });
      expect(JSON.stringify(collector.spans())).not.toContain("canary-91c2");
    }));

  it("a trace holds neither the body nor what signs it", () =>
    withTraced(dialect, async (receiver, collector) => {
      await receiver.send(payment({}, { order_id: "canary-7f3a" }));
      await collector.trace(ROOT);
      const sent = Buffer.concat(collector.posted.map(({ body }) => body)).toString();
      expect(sent).not.toContain("canary-7f3a");
      expect(sent).not.toMatch(/x-signature/i);
    }));
});
