import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { AdminDeps } from "./admin-deps.ts";
import { exportLines } from "./callback-export.ts";
import { FILTER_QUERY, type FilterQuery, filterOf } from "./callback-filters.ts";
import { operation } from "./operation.ts";
import { BOUNDED_LOOK, BUDGET_MS, PAGE_QUERY, type PageQuery } from "./paging.ts";
import { presentCallback } from "./present.ts";
import { readerOf } from "./reader.ts";
import type { FoundPage } from "./shapes.ts";

/** Each searches for half of the time. */
const MOST_EXPORTS = 4;

const LIST = operation({
  summary: "The callback log",
  description: BOUNDED_LOOK,
  querystring: strict({ ...PAGE_QUERY, ...FILTER_QUERY }),
  answers: {
    200: {
      says: "A page of it.",
      content: {
        pageOf: "Callback",
        also: {
          searched_until: {
            type: ["string", "null"],
            format: "date-time",
            description: "How far back the search has come; null where it is at the end.",
          },
        },
      },
    },
  },
});
const GET = operation({
  summary: "One callback",
  params: {
    type: "object",
    properties: { id: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER } },
  },
  answers: {
    200: { says: "It is this one.", content: "Callback" },
    404: { says: "There is no such callback; it may be past LOG_RETENTION_DAYS." },
  },
});
const EXPORT = operation({
  summary: "The callback log as a file",
  description:
    "The same filters without a page: everything that matches, newest first, for as long as the reader takes it: who takes nothing for a " +
    "minute is cut off. In CSV, cells " +
    "that a spreadsheet would run begin with an apostrophe.",
  querystring: strict({
    format: { type: "string", enum: ["ndjson", "csv"], default: "ndjson" },
    ...FILTER_QUERY,
  }),
  answers: {
    200: {
      says: "One callback a line, as JSON or as CSV with a head.",
      content: { schema: { type: "string" }, media: ["application/x-ndjson", "text/csv"] },
    },
    503: { says: "As many exports run on this process as may." },
  },
});

/** `GET /api/v1/callbacks`, `/api/v1/callbacks/:id` and `/api/v1/callbacks/export`. */
export function registerCallbacks(app: FastifyInstance, { store, callbackLog, clock, log }: AdminDeps): void {
  app.get<{ Querystring: PageQuery & FilterQuery }>(
    "/api/v1/callbacks",
    { schema: LIST },
    async ({ query }): Promise<FoundPage> => {
      const filter = filterOf(query);
      // What has been answered must be visible, also where its row still waits to be written.
      await callbackLog.flush();
      const before = query.cursor === undefined ? {} : { before: Number(query.cursor) };
      const search = { limit: query.limit, ...before, budgetMs: BUDGET_MS };
      const { callbacks, next, searchedUntil } = await store.callbacks.search(filter, search);
      return {
        items: callbacks.map(presentCallback),
        next_cursor: next === null ? null : String(next),
        searched_until: searchedUntil,
      };
    },
  );
  app.get<{ Params: { id: number } }>("/api/v1/callbacks/:id", { schema: GET }, async ({ params }, reply) => {
    await callbackLog.flush();
    const row = await store.callbacks.get(params.id);
    if (row !== undefined) return presentCallback(row);
    return reply.code(404).send({ error: "there is no such callback; it may be past LOG_RETENTION_DAYS" });
  });
  let exports = 0;
  app.get<{ Querystring: FilterQuery & { format: "ndjson" | "csv" } }>(
    "/api/v1/callbacks/export",
    { schema: EXPORT },
    async ({ query: { format, ...query } }, reply) => {
      const filter = filterOf(query);
      if (exports >= MOST_EXPORTS) {
        const error = `${MOST_EXPORTS} exports run on this process, and no more may; try again when one has ended`;
        return reply.code(503).header("retry-after", "10").send({ error });
      }
      exports += 1;
      reply.raw.once("close", () => {
        exports -= 1;
      });
      const lines = exportLines(store.callbacks, filter, format, readerOf(reply.raw));
      await callbackLog.flush();
      const at = clock.now().toISOString().slice(0, 19).replaceAll(":", "-");
      const type = format === "csv" ? "text/csv; header=present" : "application/x-ndjson";
      const stream = Readable.from(lines, { objectMode: false, highWaterMark: 65_536 });
      stream.on("error", (error) => {
        if ((error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE") return;
        log.warn({ err: error }, "an export was broken off");
      });
      return reply
        .header("content-type", `${type}; charset=utf-8`)
        .header("content-disposition", `attachment; filename="callbacks-${at}.${format}"`)
        .send(stream);
    },
  );
}

function strict(properties: object): object {
  return { type: "object", properties, additionalProperties: false };
}
