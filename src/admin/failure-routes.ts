import type { FastifyInstance } from "fastify";
import type { EventKey } from "../domain/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { assertServing } from "./health-routes.ts";
import { HttpError, operation } from "./operation.ts";
import { presentFailureRow } from "./present.ts";
import { presentDryRun, presentOutcome } from "./present-replay.ts";
import * as input from "./request-parameters.ts";
import type { ReplayView } from "./schemas.ts";

const LIST = operation({
  summary: "Failed events: waiting for a retry, with retries exhausted, or rejected",
  description: input.BOUNDED_SEARCH,
  querystring: { ...input.PAGE_QUERY, ...input.FAILURE_FILTER, ...input.EVENT_QUERY },
  responses: { 200: ["A page of them.", { pageOf: "Failure" }] },
});
const REPLAY = operation({
  summary: "Run a failed event now",
  action: "failure.replay",
  dryRunAction: "failure.dry_run",
  description:
    "The handler runs in the same once-only transaction as in a callback. With `dry_run` the transaction is rolled back at the end: the answer shows the result, the statements of the handler and what it would send, and nothing changes.",
  params: input.EVENT_PARAMS,
  querystring: { dry_run: input.flag },
  responses: {
    200: ["The handler ran; `outcome` holds the result.", "Replay"],
    404: "There is no such failure; it may have been retried since.",
    409: "It is being retried right now.",
    503: "The receiver starts or drains.",
  },
});
const DISCARD = operation({
  summary: "Discard a failure",
  action: "failure.discard",
  params: input.EVENT_PARAMS,
  responses: { 204: "It is gone.", 404: "There is no such failure.", 409: "It is being run right now." },
});

export function registerFailures(app: FastifyInstance, deps: AdminDependencies): void {
  const { store, log } = deps;
  app.get("/api/v1/failures", LIST, async ({ query }) => {
    const filter = { ...input.failureFilter(query), eventId: query.event_id };
    return input.searchPageOf(
      query,
      (search) => store.failures.search(filter, search),
      (row) => presentFailureRow(row, deps),
    );
  });
  app.post("/api/v1/failures/:source/:event_id/replay", REPLAY, async ({ params, query: { dry_run } }) => {
    assertServing(deps);
    const view = await (dry_run ? runDryRun : runReplay)(input.eventKeyOf(params), deps);
    const did = dry_run ? "an operator made a dry run of a failure" : "an operator replayed a failure";
    log.info({ ...params, dry_run, outcome: typeof view === "string" ? view : view.outcome }, did);
    return typeof view === "string" ? notRun(view) : view;
  });
  app.delete("/api/v1/failures/:source/:event_id", DISCARD, async ({ params }, reply) => {
    const result = await deps.discard(input.eventKeyOf(params));
    if (result !== "discarded") return notRun(result);
    log.info({ ...params }, "an operator discarded a failure");
    return reply.code(204).send();
  });
}

function notRun(reason: "absent" | "leased"): never {
  if (reason === "leased")
    throw new HttpError(409, "this failure is being retried right now; look at it again in a moment");
  throw new HttpError(404, "no failure under this source and event_id; it may have been retried since");
}

type ReplayResponse = ReplayView | "absent" | "leased";

async function runReplay(key: EventKey, deps: AdminDependencies): Promise<ReplayResponse> {
  const result = await deps.replay(key);
  return typeof result === "string" ? result : { ...presentOutcome(result, deps), dry_run: false };
}

async function runDryRun(key: EventKey, deps: AdminDependencies): Promise<ReplayResponse> {
  const result = await deps.dryRun(key);
  return result === "absent" ? result : presentDryRun(result.outcome, result.dryRun, deps);
}
