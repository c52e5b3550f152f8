import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { requireCaller } from "./access/guard.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { tryBulkReplay } from "./bulk-replay-trial.ts";
import { HttpError, operation } from "./operation.ts";
import { presentBulkReplay, presentUnreplayed } from "./present.ts";
import { NO_PROBLEM, noProblem } from "./problem-routes.ts";
import * as input from "./request-parameters.ts";
import type { BulkReplayView } from "./schemas.ts";

const NO_BULK_REPLAY = { 404: "There is no such bulk replay." };
const START_BULK = operation({
  summary: "Replay all failures, or all handled events, that match a filter",
  action: "bulk_replay.start",
  dryRunAction: "bulk_replay.dry_run",
  auditedFields: ["scope", "filter", "per_second", "reason"],
  description:
    "Those that are there now, one after the other, each as a single replay. A failure that fails again stays one and is not tried twice. " +
    "With the scope `events` it is of handled events: each is run again once, and keeps its result where that fails. It needs a `reason`, and a source in its filter. " +
    "With `dry_run` it counts them, and runs the first 20 in transactions that it rolls back, for ten seconds at most.",
  querystring: { dry_run: input.flag.describe("Only of handled events.") },
  // All failures need an explicit, empty filter.
  body: z.strictObject({
    scope: z.enum(["failures", "events"]).default("failures"),
    filter: z.strictObject(input.BULK_FILTER),
    per_second: input.wholeNumber(1, 100).default(10),
    reason: input.filterText("Of handled events: why they are run again, for the audit log.", input.MAX_REASON),
  }),
  responses: { 200: ["Of a dry run.", "BulkReplayTrial"], 201: ["Started.", "BulkReplay"], ...NO_PROBLEM },
});
const LIST_BULK = operation({
  summary: "Bulk replays, newest first",
  querystring: input.PAGE_QUERY,
  responses: { 200: ["A page of them.", { pageOf: "BulkReplay" }] },
});
const GET_BULK = operation({
  summary: "One bulk replay",
  params: input.ID_PARAMS,
  responses: { 200: ["The bulk replay.", "BulkReplay"], ...NO_BULK_REPLAY },
});
const LIST_EVENTS = operation({
  summary: "The handled events that a bulk replay did not run",
  description: "Those that failed, and those without anything to run them from, newest first.",
  params: input.ID_PARAMS,
  querystring: { ...input.PAGE_QUERY, kind: z.enum(["failed", "skipped"]).optional() },
  responses: { 200: ["A page of them.", { pageOf: "UnreplayedEvent" }], ...NO_BULK_REPLAY },
});
const RUNNING_REPLAYS_FINISH = "Replays in progress finish and are counted.";
/** Actions stand here as a whole: a test holds docs/admin-api.md to them. */
const TRANSITIONS = [
  {
    verb: "pause",
    action: "bulk_replay.pause",
    state: "paused",
    summary: "Pause a bulk replay",
    success: `No other replay of it begins. ${RUNNING_REPLAYS_FINISH}`,
  },
  {
    verb: "resume",
    action: "bulk_replay.resume",
    state: "running",
    summary: "Resume a paused bulk replay",
    success: "It runs.",
  },
  {
    verb: "cancel",
    action: "bulk_replay.cancel",
    state: "cancelled",
    summary: "End a bulk replay for good",
    success: `It has ended. ${RUNNING_REPLAYS_FINISH}`,
  },
] as const;

export function registerBulkReplays(app: FastifyInstance, deps: AdminDependencies): void {
  const { store, clock, log } = deps;
  app.post("/api/v1/bulk-replays", START_BULK, async (request, reply) => {
    const { scope, filter: fields, per_second: perSecond, reason = null } = request.body;
    const isDryRun = request.query.dry_run;
    assertScope({ scope, filter: fields, reason, isDryRun });
    const filter = input.bulkFilter(fields);
    if (fields.problem !== undefined && (await store.problems.get(fields.problem, clock.now())) === undefined)
      noProblem();
    if (isDryRun) return reply.send(await tryBulkReplay(filter, deps));
    const asked = { scope, filter, reason, perSecond, createdBy: requireCaller(request).actor };
    const bulk = presentBulkReplay(await store.bulkReplays.create(asked, clock.now()));
    request.auditTarget = String(bulk.id);
    log.info({ ...bulk }, "an operator began a bulk replay");
    return reply.code(201).send(bulk);
  });
  app.get("/api/v1/bulk-replays/:id/events", LIST_EVENTS, async ({ params: { id }, query }) => {
    if ((await store.bulkReplays.get(id)) === undefined) return noBulkReplay();
    return input.pageOf(query, (page) => store.handledEvents.unreplayed(id, query.kind, page), presentUnreplayed);
  });
  app.get("/api/v1/bulk-replays", LIST_BULK, async ({ query }) =>
    input.pageOf(query, (page) => store.bulkReplays.list(page), presentBulkReplay),
  );
  app.get("/api/v1/bulk-replays/:id", GET_BULK, async ({ params }) =>
    presentBulkReplay((await store.bulkReplays.get(params.id)) ?? noBulkReplay()),
  );
  for (const { verb, action, state, summary, success } of TRANSITIONS) {
    const transition = operation({
      summary,
      action,
      params: input.ID_PARAMS,
      responses: { 200: [success, "BulkReplay"], ...NO_BULK_REPLAY, 409: "It has ended." },
    });
    app.post(`/api/v1/bulk-replays/:id/${verb}`, transition, async ({ params: { id } }) => {
      const bulk = await store.bulkReplays.change(id, state, clock.now());
      if (bulk === "absent") return noBulkReplay();
      if (bulk === "ended")
        throw new HttpError(409, "this bulk replay has ended; begin another one for what has failed since");
      log.info({ id, state }, "an operator changed a bulk replay");
      return presentBulkReplay(bulk);
    });
  }
}

function noBulkReplay(): never {
  throw new HttpError(404, "there is no bulk replay with this id");
}

const OF_FAILURES = ["state", "code", "problem", "bulk_replay"] as const;
const OF_EVENTS = ["from", "to"] as const;

interface AskedBulk extends Pick<BulkReplayView, "scope" | "filter" | "reason"> {
  readonly isDryRun: boolean;
}

/** @throws HttpError for fields of the other scope, and for handled events without a source or a reason */
function assertScope({ scope, filter, reason, isDryRun }: AskedBulk): void {
  const others = scope === "events" ? OF_FAILURES : OF_EVENTS;
  const wrong = others.find((name) => filter[name] !== undefined);
  const other = scope === "events" ? "failures" : "handled events: set scope to events";
  if (wrong !== undefined) throw new HttpError(400, `filter.${wrong}: is for ${other}`);
  if (scope === "failures") {
    if (isDryRun) throw new HttpError(400, "dry_run: is for handled events; a failure has a dry run of its own");
    return;
  }
  if (filter.source === undefined)
    throw new HttpError(400, "filter.source: missing; handled events are run again for one source, such as stripe");
  if (reason === null && !isDryRun)
    throw new HttpError(
      400,
      "reason: missing; say why the events are run again, or ask with ?dry_run=true, which needs none",
    );
}
