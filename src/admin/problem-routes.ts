import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { PROBLEM_KINDS, PROBLEM_STATES, type Problem, type ProblemState } from "../domain/index.ts";
import { requireCaller } from "./access/guard.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { HttpError, operation } from "./operation.ts";
import { time } from "./page-schemas.ts";
import { presentClaim } from "./present.ts";
import { PROBLEM, type ProblemDetailView, type ProblemListView, type ProblemView } from "./problem-schemas.ts";
import * as input from "./request-parameters.ts";

export const NO_PROBLEM = { 404: "There is no such problem, or it was resolved a month ago." };
const PARAMS = { id: input.text("Of the list.", 64) };
const LIST = operation({
  summary: "What is wrong, by its cause",
  description:
    "Failures of one source, type, code, place in the handler and message are one problem, without the numbers, ids and quoted values of the message. So are the callbacks of a source that refuses them all, and failed deliveries of one channel and error. The open ones come first, the most frequent at the head.",
  querystring: {
    state: z.enum(PROBLEM_STATES).optional(),
    source: input.filterText("Of this source, or channel of failed deliveries."),
    kind: z.enum(PROBLEM_KINDS).optional(),
  },
  responses: {
    200: [
      "All of them.",
      {
        shape: z.strictObject({
          items: z.array(PROBLEM),
          is_complete: z.boolean().describe("False where there were more causes or rows than one request counts."),
        }),
      },
    ],
  },
});
const GET = operation({
  summary: "One problem and its events",
  params: PARAMS,
  querystring: input.PAGE_QUERY,
  responses: { 200: ["The problem.", "ProblemDetail"], ...NO_PROBLEM },
});
const DELIVER = operation({
  summary: "Deliver all notifications of a problem again",
  action: "problem.deliver",
  params: PARAMS,
  responses: {
    200: [
      "They are due now, with all attempts left.",
      { shape: z.strictObject({ deliveries: z.int().describe("How many there were.") }) },
    ],
    ...NO_PROBLEM,
    409: "It is no problem of deliveries, or its channel is not configured.",
  },
});
const MUTE = operation({
  summary: "Send no alert for a problem until a time",
  action: "problem.mute",
  auditedFields: ["until", "reason"],
  description: "It is listed as muted, with who muted it and why, and is open again once the time has come.",
  params: PARAMS,
  body: z.strictObject({
    until: time().describe("At most 90 days ahead."),
    reason: input.text("Why; it is in the audit log.", 500),
  }),
  responses: { 200: ["It is muted.", "Problem"], ...NO_PROBLEM },
});
const UNMUTE = operation({
  summary: "End the mute of a problem",
  action: "problem.unmute",
  params: PARAMS,
  responses: { 200: ["It is not muted.", "Problem"], ...NO_PROBLEM },
});
const MOST_MUTED_MS = 90 * 86_400_000;

export function registerProblems(app: FastifyInstance, deps: AdminDependencies): void {
  const { store, clock, log, channelNames, channelHostOf } = deps;
  // A source that refuses its callbacks is found by their counts and their rows.
  const flush = () => Promise.all([deps.flushRollups(), deps.callbackLog.flush()]);
  const find = async (id: string) => {
    await flush();
    return (await store.problems.get(id, clock.now())) ?? noProblem();
  };
  /** Counted once: only its state has changed since. */
  const withState = async (problem: Problem & ProblemState): Promise<ProblemView> => {
    const open = problem.state === "resolved" ? undefined : problem;
    const look = { isComplete: true, now: clock.now() };
    return presentProblem((await store.problemStates.syncOne(problem.id, open, look)) ?? problem);
  };
  app.get("/api/v1/problems", LIST, async ({ query: { state, source, kind } }): Promise<ProblemListView> => {
    await flush();
    const { problems, isComplete } = await store.problems.list(clock.now());
    const items = problems.filter(
      (one) =>
        (state ?? one.state) === one.state && (source ?? one.source) === one.source && (kind ?? one.kind) === one.kind,
    );
    return { items: items.map(presentProblem), is_complete: isComplete };
  });
  app.get("/api/v1/problems/:id", GET, async ({ params: { id }, query }): Promise<ProblemDetailView> => {
    const problem = await find(id);
    const page = { ...input.pageAt(query), budgetMs: input.BUDGET_MS };
    const { rows, next } = await store.problemEvents.search(problem, page);
    return {
      problem: presentProblem(problem),
      channel_host: problem.kind === "delivery" ? channelHostOf(problem.source) : null,
      events: rows.map(({ id: _, ...row }) => ({
        ...{ at: row.at, source: row.source, event_id: row.eventId, event_type: row.eventType, state: row.state },
        ...{ error: row.error, callback_id: row.callbackId, claimed: presentClaim(row.claim) },
        ...{ notification_id: row.notificationId, topic: row.topic, alert: row.alert },
      })),
      next_cursor: input.cursorAt(next),
    };
  });
  app.post("/api/v1/problems/:id/deliver", DELIVER, async ({ params: { id } }) => {
    const problem = await find(id);
    if (problem.kind !== "delivery")
      throw new HttpError(409, `this is a problem of kind ${problem.kind}; expected one of failed deliveries`);
    if (!channelNames.includes(problem.source))
      throw new HttpError(409, `the channel ${problem.source} is not configured; configure it again, or discard them`);
    const deliveries = await store.outbox.redeliverProblem(id, clock.now());
    log.info({ problem: id, deliveries }, "an operator had all deliveries of a problem made again");
    return { deliveries };
  });
  app.post("/api/v1/problems/:id/mute", MUTE, async (request) => {
    const { params, body } = request;
    const ahead = Date.parse(body.until) - clock.now().getTime();
    if (!(ahead > 0 && ahead <= MOST_MUTED_MS))
      throw new HttpError(400, `until: got ${body.until}, expected a time within 90 days from now`);
    const problem = await find(params.id);
    const mute = { until: new Date(body.until), by: requireCaller(request).actor, reason: body.reason };
    await store.problemStates.mute(params.id, mute);
    log.info({ problem: params.id, until: body.until }, "an operator muted a problem");
    return withState(problem);
  });
  app.post("/api/v1/problems/:id/unmute", UNMUTE, async ({ params: { id } }) => {
    const problem = await find(id);
    await store.problemStates.mute(id, undefined);
    log.info({ problem: id }, "an operator ended the mute of a problem");
    return withState(problem);
  });
}

export function noProblem(): never {
  throw new HttpError(404, "there is no problem with this id; see GET /api/v1/problems");
}

export function presentProblem(problem: Problem & ProblemState): ProblemView {
  const {
    eventType,
    firstSeen,
    lastSeen,
    resolvedAt,
    mutedUntil,
    mutedBy,
    muteReason,
    example,
    hourly,
    isAtLeast,
    ...rest
  } = problem;
  return {
    ...rest,
    at_least: isAtLeast,
    event_type: eventType,
    first_seen: firstSeen,
    last_seen: lastSeen,
    example:
      example === null
        ? null
        : { source: example.source, event_id: example.eventId, notification_id: example.notificationId },
    hourly: [...hourly],
    resolved_at: resolvedAt,
    muted_until: mutedUntil,
    muted_by: mutedBy,
    mute_reason: muteReason,
  };
}
