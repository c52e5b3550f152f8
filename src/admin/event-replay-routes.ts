import { randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { EventKey, JsonObject } from "../domain/index.ts";
import type { EndedReplay } from "../retry/index.ts";
import { requireCaller } from "./access/guard.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { assertServing } from "./health-routes.ts";
import { HttpError, operation } from "./operation.ts";
import { presentDryRun, presentOutcome } from "./present-replay.ts";
import * as input from "./request-parameters.ts";
import type { ReplayView } from "./schemas.ts";

const REPLAY = operation({
  summary: "Run a handled event again",
  action: "event.replay",
  dryRunAction: "event.dry_run",
  auditedFields: ["reason"],
  description:
    "From its original, by the contract and the handler of today. The result replaces that of the record, and the earlier one is kept beside it; " +
    "a duplicate gets the new one. A run that fails changes nothing. What the handler wrote in earlier runs stays. " +
    "With `dry_run` the transaction is rolled back at the end: the answer shows what the handler would do, and no reason is needed.",
  params: input.EVENT_PARAMS,
  querystring: { dry_run: input.flag },
  body: z
    .strictObject({ reason: input.filterText("Why it is run again, for the audit log.", input.MAX_REASON) })
    .nullish(),
  responses: {
    200: ["The handler ran; `outcome` holds the result.", "Replay"],
    404: "No event of this key was handled; a failed one is replayed as a failure.",
    409: "There is nothing to run it from: no original of it is kept, or it was erased, or a newer event replaces it. Or its source has no handler.",
    503: "The receiver starts or drains.",
  },
});

export function registerEventReplays(app: FastifyInstance, deps: AdminDependencies): void {
  app.post("/api/v1/events/:source/:event_id/replay", REPLAY, async (request) => {
    assertServing(deps);
    const { params, query, body } = request;
    const key = input.eventKeyOf(params);
    const { dry_run } = query;
    const { actor } = requireCaller(request);
    const view = dry_run ? await runDryRun(key, deps) : await runReplay(key, { actor, reason: body?.reason }, deps);
    const did = dry_run ? "an operator made a dry run of a handled event" : "an operator replayed a handled event";
    deps.log.info({ ...params, dry_run, outcome: view.outcome }, did);
    return view;
  });
}

async function runReplay(
  key: EventKey,
  { actor, reason }: { readonly actor: string; readonly reason: string | undefined },
  deps: AdminDependencies,
): Promise<ReplayView> {
  if (reason === undefined)
    throw new HttpError(
      400,
      "reason: missing; say why the event is run again, or ask with ?dry_run=true, which needs none",
    );
  const result = ended(await deps.replayHandled(key, { replay: randomUUID(), actor, reason }));
  return { ...presentOutcome(result.outcome, deps), dry_run: false, earlier: earlierOf(result, deps) };
}

async function runDryRun(key: EventKey, deps: AdminDependencies): Promise<ReplayView> {
  const result = ended(await deps.dryRunHandled(key));
  return { ...presentDryRun(result.outcome, result.dryRun, deps), earlier: earlierOf(result, deps) };
}

function earlierOf({ earlier: { result, processedAt } }: EndedReplay, { mask }: AdminDependencies) {
  return { result: mask.json(result) as JsonObject | null, processed_at: processedAt };
}

type Skipped = Extract<Awaited<ReturnType<AdminDependencies["replayHandled"]>>, { kind: "skipped" }>;

/** @throws HttpError where the event was not run */
function ended<Ended extends EndedReplay>(result: Ended | "absent" | Skipped): Ended {
  if (result === "absent")
    throw new HttpError(
      404,
      "no event under this source and event_id was handled; one that failed is among the failures",
    );
  if (result.kind === "skipped") throw new HttpError(409, `the event cannot be run again: ${result.message}`);
  return result;
}
