import type { FastifyInstance, FastifyReply } from "fastify";
import type { BulkReplayState, FailureFilter, StoredBulkReplay } from "../store/index.ts";
import { requireCaller } from "./access/guard.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { operation } from "./operation.ts";
import {
  FAILURE_FILTER,
  type FailureFilterQuery,
  failureFilter,
  PAGE_QUERY,
  type PageQuery,
  pageOf,
} from "./request-parameters.ts";
import type { BulkReplayView } from "./schemas.ts";

const PARAMS = {
  type: "object",
  properties: { id: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER } },
} as const;
const BODY = {
  type: "object",
  // All failures need an explicit, empty filter.
  required: ["filter"],
  properties: {
    filter: { type: "object", properties: FAILURE_FILTER, additionalProperties: false },
    per_second: { type: "integer", minimum: 1, maximum: 100, default: 10 },
  },
  additionalProperties: false,
} as const;
const QUERY = { type: "object", properties: PAGE_QUERY, additionalProperties: false } as const;

const NOT_FOUND = { 404: { description: "There is no such bulk replay." } };
const START = operation({
  summary: "Replay all failures that match a filter",
  action: "bulk_replay.start",
  auditedFields: ["filter", "per_second"],
  description:
    "Those that are there now, one after the other, each as a replay of it alone would run. One that fails again stays a failure and is not tried twice.",
  body: BODY,
  responses: { 201: { description: "Started.", content: "BulkReplay" } },
});
const LIST = operation({
  summary: "Bulk replays, newest first",
  querystring: QUERY,
  responses: { 200: { description: "A page of them.", content: { pageOf: "BulkReplay" } } },
});
const GET = operation({
  summary: "One bulk replay",
  params: PARAMS,
  responses: { 200: { description: "The bulk replay.", content: "BulkReplay" }, ...NOT_FOUND },
});
const transition = (action: string, summary: string, description: string) =>
  operation({
    summary,
    action: `bulk_replay.${action}`,
    params: PARAMS,
    responses: {
      200: { description, content: "BulkReplay" },
      ...NOT_FOUND,
      409: { description: "It has ended." },
    },
  });
const RUNNING_REPLAYS_FINISH = "Replays in progress finish and are counted.";
const TRANSITIONS = {
  pause: {
    to: "paused",
    schema: transition(
      "pause",
      "Pause a bulk replay",
      `No other replay of it begins. ${RUNNING_REPLAYS_FINISH}`,
    ),
  },
  resume: {
    to: "running",
    schema: transition("resume", "Resume a paused bulk replay", "It runs."),
  },
  cancel: {
    to: "cancelled",
    schema: transition("cancel", "End a bulk replay for good", `It has ended. ${RUNNING_REPLAYS_FINISH}`),
  },
} as const;

/** `POST` and `GET /api/v1/bulk-replays`, and what an operator does about one. */
export function registerBulkReplays(app: FastifyInstance, deps: AdminDependencies): void {
  app.post<{ Body: { filter: FailureFilterQuery; per_second: number } }>(
    "/api/v1/bulk-replays",
    { schema: START },
    async (request, reply) => {
      const { body } = request;
      const createdBy = requireCaller(request).actor;
      const asked = { filter: failureFilter(body.filter), perSecond: body.per_second, createdBy };
      const bulk = await deps.store.bulkReplays.create(asked, deps.clock.now());
      deps.log.info({ ...presentBulkReplay(bulk) }, "an operator began a bulk replay");
      return reply.code(201).send(presentBulkReplay(bulk));
    },
  );
  app.get<{ Querystring: PageQuery }>("/api/v1/bulk-replays", { schema: LIST }, async ({ query }) =>
    pageOf(query, (page) => deps.store.bulkReplays.list(page), presentBulkReplay),
  );
  app.get<{ Params: { id: number } }>(
    "/api/v1/bulk-replays/:id",
    { schema: GET },
    async ({ params }, reply) => {
      const bulk = await deps.store.bulkReplays.get(params.id);
      return bulk === undefined ? notFound(reply) : presentBulkReplay(bulk);
    },
  );
  for (const [action, { to, schema }] of Object.entries(TRANSITIONS)) {
    app.post<{ Params: { id: number } }>(
      `/api/v1/bulk-replays/:id/${action}`,
      { schema },
      async ({ params }, reply) => change(params.id, to, reply, deps),
    );
  }
}

async function change(
  id: number,
  to: Exclude<BulkReplayState, "done">,
  reply: FastifyReply,
  { store, clock, log }: AdminDependencies,
): Promise<FastifyReply> {
  const bulk = await store.bulkReplays.change(id, to, clock.now());
  if (bulk === "absent") return notFound(reply);
  if (bulk === "ended")
    return reply
      .code(409)
      .send({ error: "this bulk replay has ended; begin another one for what has failed since" });
  log.info({ id, state: to }, "an operator changed a bulk replay");
  return reply.send(presentBulkReplay(bulk));
}

function notFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ error: "there is no bulk replay with this id" });
}

function presentBulkReplay(bulk: StoredBulkReplay): BulkReplayView {
  const { id, perSecond, state, total, succeeded, alreadyHandled, failed, createdBy } = bulk;
  return {
    id,
    filter: filterView(bulk.filter),
    per_second: perSecond,
    state,
    total,
    done: succeeded + alreadyHandled + failed,
    succeeded,
    already_handled: alreadyHandled,
    failed,
    started_at: bulk.startedAt,
    ended_at: bulk.endedAt,
    created_by: createdBy,
  };
}

function filterView({ eventType, ...filter }: FailureFilter): BulkReplayView["filter"] {
  return { ...filter, ...(eventType === undefined ? {} : { event_type: eventType }) };
}
