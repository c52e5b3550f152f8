import { finished } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";
import {
  MATCH_KINDS,
  type MatchKind,
  parseSearchQuery,
  type SearchQuery,
  SearchQueryError,
} from "../../domain/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { SUGGESTION, type SuggestionView } from "../callback-schemas.ts";
import { HttpError, operation } from "../operation.ts";
import { time } from "../page-schemas.ts";
import { presentFound } from "../present.ts";
import { text, wholeNumber } from "../request-parameters.ts";
import type { SearchPageView } from "../schemas.ts";
import { type SearchPosition, searchCallbacks } from "./search-callbacks.ts";
import { createSearchQueue } from "./search-queue.ts";
import { suggestionsFor } from "./suggestions.ts";

const MAX_QUERY_LENGTH = 500;
/** Of the 200 ms that a request may take. */
const BUDGET_MS = 150;

const QUERY_TEXT = text(
  "Words, and filters such as `source:stripe outcome:failed since:3d data.object.customer:cus_1`; docs/monitoring.md has all of them.",
  MAX_QUERY_LENGTH,
);

export const SEARCH_QUERY = {
  q: QUERY_TEXT,
  limit: wholeNumber(1, 200).default(50),
  cursor: z
    .string()
    .regex(/^(?:exact|prefix|text)\.[1-9][0-9]{0,15}$/)
    .describe("The `next_cursor` of the page before.")
    .optional(),
};

const SEARCH = operation({
  summary: "Find callbacks by any value",
  description:
    "Whole values come first, then values that begin so, then texts in the masked body; newest first within each. A request looks for about a tenth of a second: a page may have few items or none and still a `next_cursor`, which goes on looking.",
  querystring: SEARCH_QUERY,
  responses: {
    200: [
      "A page of them.",
      {
        pageOf: "FoundCallback",
        also: {
          searching: z.enum(MATCH_KINDS).nullable().describe("What the next page looks for; null at the end."),
          progress: z.number().describe("How much of the log has been searched for it, from 0 to 1."),
          searched_until: time()
            .nullable()
            .describe("How far back the log was read for texts; null before that, and at the end."),
        },
      },
    ],
    503: "This process runs the maximum of searches, and the maximum waits; or the database does not answer.",
  },
});

const SUGGESTIONS = operation({
  summary: "Ways to go on with a query",
  description: "For the last word of a query: filters, configured sources, types of handlers, outcomes, times.",
  querystring: { q: z.string().max(MAX_QUERY_LENGTH).default("").describe("What has been typed so far.") },
  responses: { 200: ["At most 20.", { shape: z.strictObject({ items: z.array(SUGGESTION) }) }] },
});

export function registerSearch(app: FastifyInstance, deps: AdminDependencies): void {
  const { store, callbackLog, clock, sourcesByName, registry } = deps;
  const inTurn = createSearchQueue();
  app.get("/api/v1/search", SEARCH, async ({ query }, reply): Promise<SearchPageView> => {
    const parsed = readQuery(query.q, clock.now());
    const request = { query: parsed, limit: query.limit, from: positionOf(query.cursor), budgetMs: BUDGET_MS };
    const { found, next, searchedUntil, progress } = await inTurn(disconnected(reply), async () => {
      // A callback with a response must be found, also where its row still waits to be written.
      await callbackLog.flush();
      return searchCallbacks(store, request);
    });
    return {
      items: found.map(presentFound),
      next_cursor: next === null ? null : `${next.kind}.${next.before}`,
      searching: next?.kind ?? null,
      progress,
      searched_until: searchedUntil,
    };
  });
  app.get("/api/v1/search/suggestions", SUGGESTIONS, async ({ query }): Promise<{ items: SuggestionView[] }> => {
    const known = { sources: [...sourcesByName.keys()], types: registry.types };
    return { items: suggestionsFor(query.q, known) };
  });
}

function disconnected({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  finished(raw, () => gone.abort());
  return gone.signal;
}

function readQuery(query: string, now: Date): SearchQuery {
  try {
    return parseSearchQuery(query, now);
  } catch (error) {
    if (error instanceof SearchQueryError) throw new HttpError(400, error.message);
    throw error;
  }
}

function positionOf(cursor: string | undefined): SearchPosition | undefined {
  if (cursor === undefined) return undefined;
  const [kind = "exact", before] = cursor.split(".");
  return { kind: kind as MatchKind, before: Number(before) };
}
