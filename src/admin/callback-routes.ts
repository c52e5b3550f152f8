import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { CallbackFilter } from "../domain/index.ts";
import type { Callbacks } from "../store/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { CALLBACK_FILTER_QUERY, type CallbackFilterQuery, callbackFilter } from "./callback-filter.ts";
import { operation } from "./operation.ts";
import { presentCallback } from "./present.ts";
import { BOUNDED_SEARCH, BUDGET_MS, PAGE_QUERY, type PageQuery } from "./request-parameters.ts";
import type { CallbackPage } from "./schemas.ts";
import { CALLBACK, type CallbackView } from "./schemas.ts";

/** Each searches for half of the time. */
const MAX_EXPORTS = 4;

const LIST = operation({
  summary: "The callback log",
  description: BOUNDED_SEARCH,
  querystring: strict({ ...PAGE_QUERY, ...CALLBACK_FILTER_QUERY }),
  responses: {
    200: {
      description: "A page of it.",
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
  responses: {
    200: { description: "It is this one.", content: "Callback" },
    404: { description: "There is no such callback; it may be past LOG_RETENTION_DAYS." },
  },
});
const EXPORT = operation({
  summary: "The callback log as a file",
  description:
    "The same filters without a page: everything that matches, newest first, for as long as the reader takes it: a client that reads nothing for a " +
    "minute is disconnected. In CSV, cells " +
    "that a spreadsheet would run begin with an apostrophe.",
  querystring: strict({
    format: { type: "string", enum: ["ndjson", "csv"], default: "ndjson" },
    ...CALLBACK_FILTER_QUERY,
  }),
  responses: {
    200: {
      description: "One callback a line, as JSON or as CSV with a head.",
      content: { schema: { type: "string" }, media: ["application/x-ndjson", "text/csv"] },
    },
    503: { description: "This process runs the maximum of exports." },
  },
});

/** `GET /api/v1/callbacks`, `/api/v1/callbacks/:id` and `/api/v1/callbacks/export`. */
export function registerCallbacks(
  app: FastifyInstance,
  { store, callbackLog, clock, log }: AdminDependencies,
): void {
  app.get<{ Querystring: PageQuery & CallbackFilterQuery }>(
    "/api/v1/callbacks",
    { schema: LIST },
    async ({ query }): Promise<CallbackPage> => {
      const filter = callbackFilter(query);
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
  app.get<{ Querystring: CallbackFilterQuery & { format: "ndjson" | "csv" } }>(
    "/api/v1/callbacks/export",
    { schema: EXPORT },
    async ({ query: { format, ...query } }, reply) => {
      const filter = callbackFilter(query);
      if (exports >= MAX_EXPORTS) {
        const error = `${MAX_EXPORTS} exports run on this process, and no more may; try again when one has ended`;
        return reply.code(503).header("retry-after", "10").send({ error });
      }
      exports += 1;
      reply.raw.once("close", () => {
        exports -= 1;
      });
      const lines = exportLines(store.callbacks, filter, format, clientDisconnected(reply.raw));
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

/** Bodies may be long, and a page is in memory as a whole. */
const PAGE_SIZE = 50;
const EXPORT_BUDGET_MS = 20;
const COLUMNS = Object.keys(CALLBACK.shape) as (keyof CallbackView)[];

/** Everything that matches, newest first, page by page as it is read; it ends where the reader has gone, found something or not. */
export async function* exportLines(
  callbacks: Callbacks,
  filter: CallbackFilter,
  format: "ndjson" | "csv",
  gone: AbortSignal,
): AsyncGenerator<string, void, void> {
  if (format === "csv") yield csvLine(COLUMNS);
  const lineOf = format === "csv" ? csvRow : (view: CallbackView) => `${JSON.stringify(view)}\n`;
  for (let before: number | null | undefined; before !== null && !gone.aborted; ) {
    const startedAt = performance.now();
    const search = {
      limit: PAGE_SIZE,
      budgetMs: EXPORT_BUDGET_MS,
      ...(before === undefined ? {} : { before }),
    };
    const found = await callbacks.search(filter, search);
    const lines = found.callbacks.map((row) => lineOf(presentCallback(row))).join("");
    before = found.next;
    // At most half of the time is the export's: callbacks are answered meanwhile.
    await sleep(performance.now() - startedAt);
    if (lines !== "") yield lines;
  }
}

function csvRow(view: CallbackView): string {
  return csvLine(
    COLUMNS.map((name) => {
      const value = view[name];
      if (value === null) return "";
      return typeof value === "object" ? JSON.stringify(value) : String(value);
    }),
  );
}

/** What spreadsheets take for the beginning of a formula, full-width signs too, also behind what is not seen. */
const FORMULA_START = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;
/**
 * A spreadsheet that splits at `;` or tabs, as many locales do, does not know these quotes: a part behind one of them, or behind a
 * line end, is a cell of its own. The second group is its sign, where it begins with one.
 */
const EMBEDDED_CELLS = /([;\t\r\n][;\s\p{Cc}\p{Cf}"']*)([=+\-@＝＋－＠]?)/gu;

/** RFC 4180, every cell in quotes. An apostrophe has a spreadsheet take what follows for text. */
function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((cell) => {
    const text = cell.replace(EMBEDDED_CELLS, (part, before, sign) =>
      sign === "" ? part : `${before}'${sign}`,
    );
    return `"${(FORMULA_START.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  });
  return `${quoted.join(",")}\r\n`;
}

/** So long a reader may take nothing of what waits for it. */
const MAX_STALL_MS = 60_000;

/** Aborted once the reader of an answer has gone, which it also has when it took nothing for so long that it is cut off. */
export function clientDisconnected(response: ServerResponse, longestUnreadMs = MAX_STALL_MS): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.setTimeout(longestUnreadMs, () => {
    if (response.writableLength > 0) response.destroy();
    // Nothing waits for it: the search has found nothing for so long, and goes on.
    else response.setTimeout(longestUnreadMs);
  });
  return gone.signal;
}
