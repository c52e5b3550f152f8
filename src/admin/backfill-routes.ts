import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { unfinishedText } from "../retry/index.ts";
import { requireCaller } from "./access/guard.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { assertServing } from "./health-routes.ts";
import { HttpError, operation } from "./operation.ts";
import { presentBackfill, presentBackfillPreview } from "./present.ts";
import * as input from "./request-parameters.ts";

const NO_BACKFILL = { 404: "There is no such backfill." };
const START = operation({
  summary: "Give a handler the history of its types",
  action: "backfill.start",
  dryRunAction: "backfill.dry_run",
  auditedFields: ["handler", "event_type", "since", "include_former", "per_second"],
  description:
    "Each event since then is accepted once for each handler that it means, the oldest first, and runs as an accepted event does. What a " +
    "handler has under its key already stays as it is. With `dry_run` nothing is changed: events are counted for ten seconds at most, and " +
    "the first 20 are run and rolled back.",
  querystring: { dry_run: input.flag.describe("Only counts, and runs a sample.") },
  body: z.strictObject({
    handler: input.text("`stripe` for all handlers of the source, `stripe#audit` for those of a name."),
    event_type: input.filterText("Events of this type; every one that has a handler when left out."),
    since: z.iso.datetime({ offset: true }).describe("When the oldest of them came."),
    include_former: z
      .boolean()
      .default(false)
      .describe("Run events again that a handler of a former name has handled."),
    per_second: input.wholeNumber(1, 1_000).default(10),
  }),
  responses: {
    200: ["What it would do.", "BackfillPreview"],
    201: ["Started.", "Backfill"],
    404: "There is no such handler.",
    409: "Another backfill of the same events is not over; the error names it.",
    503: "The receiver starts or drains.",
  },
});
const LIST = operation({
  summary: "Backfills, newest first",
  querystring: input.PAGE_QUERY,
  responses: { 200: ["A page of them.", { pageOf: "Backfill" }] },
});
const GET = operation({
  summary: "One backfill",
  params: input.ID_PARAMS,
  responses: { 200: ["The backfill.", "Backfill"], ...NO_BACKFILL },
});
/** Actions stand here as a whole: a test holds docs/admin-api.md to them. */
const TRANSITIONS = [
  {
    verb: "pause",
    action: "backfill.pause",
    state: "paused",
    summary: "Pause a backfill",
    success: "It accepts no more.",
  },
  {
    verb: "resume",
    action: "backfill.resume",
    state: "running",
    summary: "Resume a paused backfill",
    success: "It runs.",
  },
  {
    verb: "cancel",
    action: "backfill.cancel",
    state: "cancelled",
    summary: "End a backfill for good",
    success: "It has ended. Events that it has accepted run all the same.",
  },
] as const;

export function registerBackfills(app: FastifyInstance, deps: AdminDependencies): void {
  const { store, clock, log, backfills } = deps;
  app.post("/api/v1/backfills", START, async (request, reply) => {
    assertServing(deps);
    const { handler, event_type: eventType = null, since, include_former, per_second: perSecond } = request.body;
    const asked = { handler, eventType, since: new Date(since).toISOString(), includesFormer: include_former };
    const problem = backfills.problemOf(asked);
    if (problem !== undefined) throw new HttpError(404, problem);
    if (request.query.dry_run) return presentBackfillPreview(await backfills.preview(asked));
    const createdBy = requireCaller(request).actor;
    const started = await store.backfills.start({ ...asked, perSecond, createdBy }, clock.now());
    if (!started.isNew) throw new HttpError(409, unfinishedText(started.backfill));
    const backfill = presentBackfill(started.backfill);
    request.auditTarget = String(backfill.id);
    log.info({ backfill: backfill.id, handler, actor: createdBy }, "an operator began a backfill");
    return reply.code(201).send(backfill);
  });
  app.get("/api/v1/backfills", LIST, async ({ query }) =>
    input.pageOf(query, (page) => store.backfills.list(page), presentBackfill),
  );
  app.get("/api/v1/backfills/:id", GET, async ({ params }) =>
    presentBackfill((await store.backfills.get(params.id)) ?? noBackfill()),
  );
  for (const { verb, action, state, summary, success } of TRANSITIONS) {
    const transition = operation({
      summary,
      action,
      params: input.ID_PARAMS,
      responses: { 200: [success, "Backfill"], ...NO_BACKFILL, 409: "It has ended." },
    });
    app.post(`/api/v1/backfills/:id/${verb}`, transition, async ({ params: { id } }) => {
      const backfill = await store.backfills.change(id, state, clock.now());
      if (backfill === "absent") return noBackfill();
      if (backfill === "ended")
        throw new HttpError(409, "this backfill has ended; begin another one, which leaves out what has been accepted");
      log.info({ backfill: id, state }, "an operator changed a backfill");
      return presentBackfill(backfill);
    });
  }
}

function noBackfill(): never {
  throw new HttpError(404, "there is no backfill with this id");
}
