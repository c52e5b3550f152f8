import type { FastifyInstance, FastifyReply } from "fastify";
import type { EventKey, JsonObject } from "../domain/index.ts";
import type { ReplayResult } from "../retry/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { operation } from "./operation.ts";
import { EVENT_PARAMS, type EventParams, eventKeyOf } from "./request-parameters.ts";
import type { ReplayView } from "./schemas.ts";

const QUERY = {
  type: "object",
  properties: { dry_run: { type: "boolean", default: false } },
  additionalProperties: false,
} as const;

const MAX_SQL_CHARACTERS = 4_000;

const REPLAY = operation({
  summary: "Run a failed event now",
  action: "failure.replay",
  dryRunAction: "failure.dry_run",
  description:
    "The handler runs in the same once-only transaction as in a callback. With `dry_run` the transaction is rolled back at the end: the answer shows the result, the statements of the handler and what it would send, and nothing changes.",
  params: EVENT_PARAMS,
  querystring: QUERY,
  responses: {
    200: { description: "The handler ran; `outcome` holds the result.", content: "Replay" },
    404: { description: "There is no such failure; it may have been retried since." },
    409: { description: "It is being retried right now." },
  },
});
const DISCARD = operation({
  summary: "Discard a failure",
  action: "failure.discard",
  params: EVENT_PARAMS,
  responses: {
    204: { description: "It is gone." },
    404: { description: "There is no such failure." },
    409: { description: "It is being run right now." },
  },
});

/** `POST /api/v1/failures/:source/:event_id/replay` and `DELETE /api/v1/failures/:source/:event_id`. */
export function registerFailures(app: FastifyInstance, deps: AdminDependencies): void {
  const { discard, log } = deps;
  app.post<{ Params: EventParams; Querystring: { dry_run: boolean } }>(
    "/api/v1/failures/:source/:event_id/replay",
    { schema: REPLAY },
    async (request, reply) => {
      const { dry_run } = request.query;
      const { outcome, view } = await (dry_run ? runDryRun : runReplay)(eventKeyOf(request.params), deps);
      const did = dry_run ? "an operator made a dry run of a failure" : "an operator replayed a failure";
      log.info({ ...request.params, dry_run, outcome: outcomeName(outcome) }, did);
      if (view !== undefined) return reply.send(view);
      return outcome === "absent" ? notFound(reply) : leased(reply);
    },
  );
  app.delete<{ Params: EventParams }>(
    "/api/v1/failures/:source/:event_id",
    { schema: DISCARD },
    async (request, reply) => {
      const ending = await discard(eventKeyOf(request.params));
      if (ending !== "discarded") return ending === "absent" ? notFound(reply) : leased(reply);
      log.info({ ...request.params }, "an operator discarded a failure");
      return reply.code(204).send();
    },
  );
}

/** The replay itself was carried out in every view; its `outcome` says how the handler ended. */
interface ReplayResponse {
  readonly outcome: ReplayResult;
  readonly view?: ReplayView;
}

async function runReplay(
  key: EventKey,
  { replay, describeError }: AdminDependencies,
): Promise<ReplayResponse> {
  const ending = await replay(key);
  return typeof ending === "string"
    ? { outcome: ending }
    : { outcome: ending, view: { ...replayView(ending, describeError), dry_run: false } };
}

async function runDryRun(
  key: EventKey,
  { dryRun: runDry, describeError, mask }: AdminDependencies,
): Promise<ReplayResponse> {
  const ending = await runDry(key);
  if (ending === "absent") return { outcome: ending };
  const { outcome, dryRun } = ending;
  const did = {
    // Cut after it is masked: half a secret could not be told from other text.
    statements: dryRun.statements.map(({ sql, rows }) => ({ sql: shortened(mask.text(sql)), rows })),
    statements_omitted: dryRun.statementsOmitted,
    connection_used: dryRun.isConnectionUsed,
    deferred_keys_unchecked: dryRun.hasUncheckedKeys,
    notifications: dryRun.notifications.map(({ topic, payload }) => ({
      topic,
      payload: mask.json(payload) as JsonObject,
    })),
    notifications_omitted: dryRun.notificationsOmitted,
  };
  return { outcome, view: { ...replayView(outcome, describeError), dry_run: true, ...did } };
}

function shortened(sql: string): string {
  return sql.length > MAX_SQL_CHARACTERS ? `${sql.slice(0, MAX_SQL_CHARACTERS)}…` : sql;
}

function replayView(
  ending: Exclude<ReplayResult, string>,
  describe: AdminDependencies["describeError"],
): Omit<ReplayView, "dry_run"> {
  switch (ending.kind) {
    case "success":
      return { outcome: "success", result: ending.result };
    case "already_processed":
      return { outcome: "already_processed" };
    case "refused":
      return { outcome: ending.code, error: ending.detail ?? ending.message };
    case "failed":
      return { outcome: ending.code, error: describe(ending.cause) };
  }
}

function leased(reply: FastifyReply): FastifyReply {
  return reply
    .code(409)
    .send({ error: "this failure is being retried right now; look at it again in a moment" });
}

function notFound(reply: FastifyReply): FastifyReply {
  return reply
    .code(404)
    .send({ error: "no failure under this source and event_id; it may have been retried since" });
}

function outcomeName(ending: ReplayResult): string {
  if (typeof ending === "string") return ending;
  return "code" in ending ? ending.code : ending.kind;
}
