import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { type CallbackFilter, OUTCOME_GROUPS, OUTCOMES, type OutcomeGroup, outcomesOfGroup } from "../domain/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { HttpError, operation } from "./operation.ts";
import { time as isoTimeSchema } from "./page-schemas.ts";
import { presentCallback, presentCallbackRow } from "./present.ts";
import * as input from "./request-parameters.ts";
import { filterText, isoTime, timeFilter } from "./request-parameters.ts";
import type { CallbackPage } from "./schemas.ts";

export const CALLBACK_FILTER = {
  from: timeFilter("Callbacks that arrived then or later; ISO 8601 with its time zone."),
  to: timeFilter("Callbacks that arrived before it."),
  source: filterText("Of this source, such as `platform` or `oauth`."),
  event_type: filterText("Of this event type; a callback without an event counts by the type that it claims."),
  status: z
    .string()
    .regex(/^[1-5](?:xx|[0-9]{2})$/)
    .meta({ examples: ["401", "4xx"] })
    .describe("Answered with this HTTP status, such as `401`, or one of a class, such as `4xx`.")
    .optional(),
  outcome: z
    .string()
    .min(1)
    .max(1024)
    .describe(
      `That ended so: ${input.OUTCOME_NAMES}; or a group of them: ${OUTCOME_GROUPS.map((group) => `\`${group}\``).join(", ")}. Several, separated by commas, for any of them. With \`!\` before each one: all others, such as \`!endpoint_check\`.`,
    )
    .optional(),
  remote_address: filterText("From this address, as the log has it."),
  event_id: filterText("Only rows of this event."),
  text: filterText(
    "A part of the masked body. The letters A to Z match a to z; every other character matches itself.",
    200,
  ),
};

export function callbackFilter(query: z.output<z.ZodObject<typeof CALLBACK_FILTER>>): CallbackFilter {
  const { source, event_type: eventType, remote_address: remoteAddress, event_id: eventId, text } = query;
  const { from, to, status, outcome } = query;
  return {
    ...{ source, eventType, remoteAddress, eventId, text },
    from: from && isoTime(from),
    to: to && isoTime(to),
    statuses: status === undefined ? undefined : statusesOf(status),
    outcomes: outcome === undefined ? undefined : outcomesOf(outcome),
  };
}

function statusesOf(status: string): readonly [number, number] {
  const first = Number(status.replace("xx", "00"));
  return [first, status.endsWith("xx") ? first + 99 : first];
}

function outcomesOf(text: string): readonly string[] {
  const words = text.split(",");
  const excluded = words.filter((word) => word.startsWith("!"));
  if (excluded.length > 0 && excluded.length < words.length) {
    const got = JSON.stringify(text);
    throw new HttpError(400, `outcome: got ${got}, expected "!" before each of them or before none`);
  }
  const outcomes = words.flatMap((word) => ofGroup(word.replace(/^!/, "")));
  const unknown = outcomes.find((outcome) => !OUTCOMES.includes(outcome));
  if (unknown !== undefined) {
    const expected = input.OUTCOME_NAMES.replaceAll("`", "");
    throw new HttpError(400, `outcome: there is no ${JSON.stringify(unknown)}; expected ${expected}`);
  }
  return excluded.length === 0 ? outcomes : OUTCOMES.filter((outcome) => !outcomes.includes(outcome));
}

/** The outcomes of a group; any other word is one outcome. */
function ofGroup(name: string): readonly string[] {
  return OUTCOME_GROUPS.includes(name as OutcomeGroup) ? outcomesOfGroup(name as OutcomeGroup) : [name];
}

const LIST = operation({
  summary: "The callback log",
  description: input.BOUNDED_SEARCH,
  querystring: { ...input.PAGE_QUERY, ...CALLBACK_FILTER },
  responses: {
    200: [
      "A page of it.",
      {
        pageOf: "CallbackRow",
        also: {
          searched_until: isoTimeSchema()
            .nullable()
            .describe("How far back the search has come; null where it is at the end."),
        },
      },
    ],
  },
});
const GET = operation({
  summary: "One callback",
  params: input.ID_PARAMS,
  responses: {
    200: ["It is this one.", "Callback"],
    404: "There is no such callback; it may be past LOG_RETENTION_DAYS.",
  },
});
/** Both routes flush the log first: a callback is visible as soon as it has its response. */
export function registerCallbacks(app: FastifyInstance, { store, callbackLog }: AdminDependencies): void {
  app.get("/api/v1/callbacks", LIST, async ({ query }): Promise<CallbackPage> => {
    const filter = callbackFilter(query);
    await callbackLog.flush();
    const search = { ...input.pageAt(query), budgetMs: input.BUDGET_MS };
    const { callbacks, next, searchedUntil } = await store.callbacks.search(filter, search);
    const next_cursor = input.cursorAt(next);
    return { items: callbacks.map(presentCallbackRow), next_cursor, searched_until: searchedUntil };
  });
  app.get("/api/v1/callbacks/:id", GET, async ({ params }) => {
    await callbackLog.flush();
    const row = await store.callbacks.get(params.id);
    if (row !== undefined) return presentCallback(row);
    throw new HttpError(404, "there is no such callback; it may be past LOG_RETENTION_DAYS");
  });
}
