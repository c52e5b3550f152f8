import type { FastifyInstance, FastifyReply } from "fastify";
import type { EventKey } from "../domain/index.ts";
import type { ReplayEnding } from "../retry/index.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { operation } from "./operation.ts";
import { NO_NUL } from "./paging.ts";
import type { ReplayView } from "./shapes.ts";

interface Key {
  readonly source: string;
  readonly event_id: string;
}

const PARAMS = {
  type: "object",
  properties: { source: { type: "string", pattern: NO_NUL }, event_id: { type: "string", pattern: NO_NUL } },
} as const;
const QUERY = {
  type: "object",
  properties: { dry_run: { type: "boolean", default: false } },
  additionalProperties: false,
} as const;

const REPLAY = operation({
  summary: "Run a failed event now",
  action: "failure.replay",
  description:
    "The handler runs in the same once-only transaction as in a callback. With `dry_run` the transaction is rolled back at the end: the answer shows the result, and nothing changes.",
  params: PARAMS,
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
  params: PARAMS,
  answers: {
    204: { says: "It is gone." },
    404: { says: "There is no such failure." },
    409: { says: "It is being run right now." },
  },
});

/** `POST /api/v1/failures/:source/:event_id/replay` and `DELETE /api/v1/failures/:source/:event_id`. */
export function registerFailures(app: FastifyInstance, { replay, discard, describe, log }: AdminDeps): void {
  app.post<{ Params: Key; Querystring: { dry_run: boolean } }>(
    "/api/v1/failures/:source/:event_id/replay",
    { schema: REPLAY },
    async (request, reply) => {
      const { dry_run } = request.query;
      const ending = await replay(keyOf(request.params), dry_run ? "rehearse" : "commit");
      log.info({ ...request.params, dry_run, ending: nameOf(ending) }, "an operator replayed a failure");
      return answer(reply, ending, dry_run, describe);
    },
  );
  app.delete<{ Params: Key }>(
    "/api/v1/failures/:source/:event_id",
    { schema: DISCARD },
    async (request, reply) => {
      const ending = await discard(keyOf(request.params));
      if (ending !== "discarded") return ending === "absent" ? absent(reply) : leased(reply);
      log.info({ ...request.params }, "an operator discarded a failure");
      return reply.code(204).send();
    },
  );
}

/** The replay itself was carried out in every 200; `outcome` says how the handler ended. */
function answer(
  reply: FastifyReply,
  ending: ReplayEnding,
  dry_run: boolean,
  describe: AdminDeps["describe"],
): FastifyReply {
  if (ending === "absent") return absent(reply);
  if (ending === "leased") return leased(reply);
  return reply.send({ ...viewOf(ending, describe), dry_run } satisfies ReplayView);
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

function keyOf({ source, event_id }: Key): EventKey {
  return { source, eventId: event_id };
}

function nameOf(ending: ReplayEnding): string {
  if (typeof ending === "string") return ending;
  return "code" in ending ? ending.code : ending.ending;
}
