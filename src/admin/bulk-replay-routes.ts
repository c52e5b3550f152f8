import type { FastifyInstance, FastifyReply } from "fastify";
import type { BulkReplayState, FailureFilter, StoredBulkReplay } from "../store/index.ts";
import { knownCaller } from "./access/guard.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { FAILURE_FILTER, type FailureFilterQuery, failureFilter } from "./failure-filter.ts";
import { operation } from "./operation.ts";
import { PAGE_QUERY, type PageQuery, pageOf } from "./paging.ts";
import type { BulkReplayView } from "./shapes.ts";

const PARAMS = {
  type: "object",
  properties: { id: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER } },
} as const;
const BODY = {
  type: "object",
  // Whoever means all failures says so, with an empty one.
  required: ["filter"],
  properties: {
    filter: { type: "object", properties: FAILURE_FILTER, additionalProperties: false },
    per_second: { type: "integer", minimum: 1, maximum: 100, default: 10 },
  },
  additionalProperties: false,
} as const;
const QUERY = { type: "object", properties: PAGE_QUERY, additionalProperties: false } as const;

const ABSENT = { 404: { says: "There is no such bulk replay." } };
const BEGIN = operation({
  summary: "Replay all failures that a filter finds",
  action: "bulk_replay.start",
  told: ["filter", "per_second"],
  description:
    "Those that are there now, one after the other, each as a replay of it alone would run. One that fails again stays a failure and is not tried twice.",
  body: BODY,
  answers: { 201: { says: "It runs, in one of the receiver's processes.", content: "BulkReplay" } },
});
const LIST = operation({
  summary: "Bulk replays and how far they are",
  querystring: QUERY,
  answers: { 200: { says: "A page of them.", content: { pageOf: "BulkReplay" } } },
});
const GET = operation({
  summary: "How far a bulk replay is",
  params: PARAMS,
  answers: { 200: { says: "It is so far.", content: "BulkReplay" }, ...ABSENT },
});
const changing = (action: string, summary: string, says: string) =>
  operation({
    summary,
    action: `bulk_replay.${action}`,
    params: PARAMS,
    answers: { 200: { says, content: "BulkReplay" }, ...ABSENT, 409: { says: "It has ended." } },
  });
const ENDS = "Replays that are under way come to their end, and are counted.";
const CHANGES = {
  pause: {
    to: "paused",
    schema: changing("pause", "Pause a bulk replay", `No other replay of it begins. ${ENDS}`),
  },
  resume: {
    to: "running",
    schema: changing("resume", "Go on with a bulk replay that is paused", "It runs."),
  },
  cancel: {
    to: "cancelled",
    schema: changing("cancel", "End a bulk replay for good", `It has ended. ${ENDS}`),
  },
} as const;

/** `POST` and `GET /api/v1/bulk-replays`, and what an operator does about one. */
export function registerBulkReplays(app: FastifyInstance, deps: AdminDeps): void {
  app.post<{ Body: { filter: FailureFilterQuery; per_second: number } }>(
    "/api/v1/bulk-replays",
    { schema: BEGIN },
    async (request, reply) => {
      const { body } = request;
      const by = knownCaller(request).who;
      const asked = { filter: failureFilter(body.filter), perSecond: body.per_second, by };
      const bulk = await deps.store.bulkReplays.begin(asked, deps.clock.now());
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
      return bulk === undefined ? absent(reply) : presentBulkReplay(bulk);
    },
  );
  for (const [action, { to, schema }] of Object.entries(CHANGES)) {
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
  { store, clock, log }: AdminDeps,
): Promise<FastifyReply> {
  const bulk = await store.bulkReplays.change(id, to, clock.now());
  if (bulk === "absent") return absent(reply);
  if (bulk === "ended")
    return reply
      .code(409)
      .send({ error: "this bulk replay has ended; begin another one for what has failed since" });
  log.info({ id, state: to }, "an operator changed a bulk replay");
  return reply.send(presentBulkReplay(bulk));
}

function absent(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ error: "there is no bulk replay with this id" });
}

function presentBulkReplay(bulk: StoredBulkReplay): BulkReplayView {
  const { id, perSecond, state, total, succeeded, already, failed, by } = bulk;
  return {
    id,
    filter: filterView(bulk.filter),
    per_second: perSecond,
    state,
    total,
    done: succeeded + already + failed,
    succeeded,
    already,
    failed,
    begun_at: bulk.begunAt,
    ended_at: bulk.endedAt,
    by,
  };
}

function filterView({ eventType, ...filter }: FailureFilter): BulkReplayView["filter"] {
  return { ...filter, ...(eventType === undefined ? {} : { event_type: eventType }) };
}
