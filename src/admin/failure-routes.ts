import type { FastifyInstance, FastifyReply } from "fastify";
import type { EventKey, JsonObject } from "../domain/index.ts";
import type { ReplayEnding } from "../retry/index.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { EVENT_PARAMS, type EventParams, eventKeyOf } from "./event-params.ts";
import { operation } from "./operation.ts";
import type { ReplayView } from "./shapes.ts";

const QUERY = {
  type: "object",
  properties: { dry_run: { type: "boolean", default: false } },
  additionalProperties: false,
} as const;

const MOST_CHARACTERS = 4_000;

const REPLAY = operation({
  summary: "Run a failed event now",
  action: "failure.replay",
  dryRunAction: "failure.dry_run",
  description:
    "The handler runs in the same once-only transaction as in a callback. With `dry_run` the transaction is rolled back at the end: the answer shows the result, the statements of the handler and what it would send, and nothing changes.",
  params: EVENT_PARAMS,
  querystring: QUERY,
  answers: {
    200: { says: "It was run; `outcome` says how it ended.", content: "Replay" },
    404: { says: "There is no such failure; it may have been retried since." },
    409: { says: "It is being retried right now." },
  },
});
const DISCARD = operation({
  summary: "Discard a failure",
  action: "failure.discard",
  params: EVENT_PARAMS,
  answers: {
    204: { says: "It is gone." },
    404: { says: "There is no such failure." },
    409: { says: "It is being run right now." },
  },
});

/** `POST /api/v1/failures/:source/:event_id/replay` and `DELETE /api/v1/failures/:source/:event_id`. */
export function registerFailures(app: FastifyInstance, deps: AdminDeps): void {
  const { discard, log } = deps;
  app.post<{ Params: EventParams; Querystring: { dry_run: boolean } }>(
    "/api/v1/failures/:source/:event_id/replay",
    { schema: REPLAY },
    async (request, reply) => {
      const { dry_run } = request.query;
      const { ending, view } = await (dry_run ? rehearsed : replayed)(eventKeyOf(request.params), deps);
      const did = dry_run ? "an operator made a dry run of a failure" : "an operator replayed a failure";
      log.info({ ...request.params, dry_run, ending: nameOf(ending) }, did);
      if (view !== undefined) return reply.send(view);
      return ending === "absent" ? absent(reply) : leased(reply);
    },
  );
  app.delete<{ Params: EventParams }>(
    "/api/v1/failures/:source/:event_id",
    { schema: DISCARD },
    async (request, reply) => {
      const ending = await discard(eventKeyOf(request.params));
      if (ending !== "discarded") return ending === "absent" ? absent(reply) : leased(reply);
      log.info({ ...request.params }, "an operator discarded a failure");
      return reply.code(204).send();
    },
  );
}

/** The replay itself was carried out in every view; its `outcome` says how the handler ended. */
interface Shown {
  readonly ending: ReplayEnding;
  readonly view?: ReplayView;
}

async function replayed(key: EventKey, { replay, describe }: AdminDeps): Promise<Shown> {
  const ending = await replay(key);
  return typeof ending === "string"
    ? { ending }
    : { ending, view: { ...viewOf(ending, describe), dry_run: false } };
}

async function rehearsed(key: EventKey, { rehearse, describe, mask }: AdminDeps): Promise<Shown> {
  const ending = await rehearse(key);
  if (ending === "absent") return { ending };
  const { outcome, rehearsal } = ending;
  const did = {
    // Cut after it is masked: half a secret could not be told from other text.
    statements: rehearsal.statements.map(({ sql, rows }) => ({ sql: shortened(mask.text(sql)), rows })),
    statements_omitted: rehearsal.statementsOmitted,
    connection_used: rehearsal.isConnectionUsed,
    deferred_keys_unchecked: rehearsal.hasUncheckedKeys,
    notifications: rehearsal.notifications.map(({ topic, payload }) => ({
      topic,
      payload: mask.json(payload) as JsonObject,
    })),
    notifications_omitted: rehearsal.notificationsOmitted,
  };
  return { ending: outcome, view: { ...viewOf(outcome, describe), dry_run: true, ...did } };
}

function shortened(sql: string): string {
  return sql.length > MOST_CHARACTERS ? `${sql.slice(0, MOST_CHARACTERS)}…` : sql;
}

function viewOf(
  ending: Exclude<ReplayEnding, string>,
  describe: AdminDeps["describe"],
): Omit<ReplayView, "dry_run"> {
  switch (ending.ending) {
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

function absent(reply: FastifyReply): FastifyReply {
  return reply
    .code(404)
    .send({ error: "no failure under this source and event_id; it may have been retried since" });
}

function nameOf(ending: ReplayEnding): string {
  if (typeof ending === "string") return ending;
  return "code" in ending ? ending.code : ending.ending;
}
