import type { ServerResponse } from "node:http";
import { finished, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { type CallbackFilter, OUTCOMES } from "../domain/index.ts";
import type { Callbacks } from "../store/index.ts";
import { requireCaller } from "./access/guard.ts";
import type { AdminDependencies, RouteDependencies } from "./admin-dependencies.ts";
import { HttpError, operation } from "./operation.ts";
import { time as isoTimeSchema } from "./page-schemas.ts";
import { presentCallback } from "./present.ts";
import * as input from "./request-parameters.ts";
import { filterText } from "./request-parameters.ts";
import { CALLBACK, type CallbackPage } from "./schemas.ts";

const ISO_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d(?::?\d\d)?)$/i;
const time = (description: string) =>
  z
    .string()
    .refine((time) => ISO_TIME.test(time) && !Number.isNaN(Date.parse(time)))
    .meta({ format: "date-time", description })
    .optional();

export const CALLBACK_FILTER = {
  from: time("Callbacks that arrived then or later; ISO 8601 with its time zone."),
  to: time("Callbacks that arrived before it."),
  source: filterText("Of this source, such as `platform` or `oauth`."),
  event_type: filterText("Of this event type."),
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
      `That ended so: ${input.OUTCOME_NAMES}; several, separated by commas, for any of them. With \`!\` before each one: all others, such as \`!endpoint_check\`.`,
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

/** No callback came before or after; past the year 9999 ISO 8601 has another form. */
const [EARLIEST, LATEST] = [0, Date.UTC(9999, 0)];

function isoTime(text: string): string {
  return new Date(Math.min(Math.max(Date.parse(text), EARLIEST), LATEST)).toISOString();
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
  const outcomes = words.map((word) => word.replace(/^!/, ""));
  const unknown = outcomes.find((outcome) => !OUTCOMES.includes(outcome));
  if (unknown !== undefined) {
    const expected = input.OUTCOME_NAMES.replaceAll("`", "");
    throw new HttpError(400, `outcome: there is no ${JSON.stringify(unknown)}; expected ${expected}`);
  }
  return excluded.length === 0 ? outcomes : OUTCOMES.filter((outcome) => !outcomes.includes(outcome));
}

const LIST = operation({
  summary: "The callback log",
  description: input.BOUNDED_SEARCH,
  querystring: { ...input.PAGE_QUERY, ...CALLBACK_FILTER },
  responses: {
    200: [
      "A page of it.",
      {
        pageOf: "Callback",
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
const EXPORT = operation({
  summary: "The callback log as a file",
  description:
    "The same filters without a page: everything that matches, newest first, for as long as the reader takes it: a client that reads nothing for a " +
    "minute is disconnected. `event_state` is the event's state by now: `completed`, `accepted`, `waiting`, `exhausted`, `rejected`, or null. In CSV, cells that a spreadsheet would run begin with an apostrophe.",
  querystring: { format: z.enum(["ndjson", "csv"]).default("ndjson"), ...CALLBACK_FILTER },
  responses: {
    200: ["One callback a line, as JSON or as CSV with a head.", { media: ["application/x-ndjson", "text/csv"] }],
    503: "This process runs the maximum of exports.",
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
    return { items: callbacks.map(presentCallback), next_cursor, searched_until: searchedUntil };
  });
  app.get("/api/v1/callbacks/:id", GET, async ({ params }) => {
    await callbackLog.flush();
    const row = await store.callbacks.get(params.id);
    if (row !== undefined) return presentCallback(row);
    throw new HttpError(404, "there is no such callback; it may be past LOG_RETENTION_DAYS");
  });
}

/** Each searches for half of the time. */
const MAX_EXPORTS = 4;

export function registerCallbackExport(
  app: FastifyInstance,
  { store, callbackLog, clock, log, authenticator }: RouteDependencies,
): void {
  /** The responses of running exports, with the hash of the session that each was asked with. */
  const running = new Map<ServerResponse, string | undefined>();
  authenticator.onSessionEnd((ended) => {
    for (const [response, idSha256] of running) if (idSha256 === ended) response.destroy();
  });
  app.get("/api/v1/callbacks/export", EXPORT, async (request, reply) => {
    const { format, ...query } = request.query;
    const filter = callbackFilter(query);
    if (running.size >= MAX_EXPORTS) {
      const error = `${MAX_EXPORTS} exports run on this process, and no more may; try again when one has ended`;
      throw new HttpError(503, error, { "retry-after": "10" });
    }
    running.set(reply.raw, requireCaller(request).session?.idSha256);
    // Fastify, the guard of connections and an export all listen for its end.
    reply.raw.setMaxListeners(20);
    // A client may have left before this line, and "close" is never emitted again.
    finished(reply.raw, () => running.delete(reply.raw));
    const lines = exportLines(store.callbacks, filter, format, clientDisconnected(reply.raw));
    await callbackLog.flush();
    const startedAt = clock.now().toISOString().slice(0, 19).replaceAll(":", "-");
    const type = format === "csv" ? "text/csv; header=present" : "application/x-ndjson";
    const stream = Readable.from(lines, { objectMode: false, highWaterMark: 65_536 });
    stream.on("error", (error) => {
      if ((error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE") return;
      log.warn({ err: error }, "an export was broken off");
    });
    return reply
      .header("content-type", `${type}; charset=utf-8`)
      .header("content-disposition", `attachment; filename="callbacks-${startedAt}.${format}"`)
      .send(stream);
  });
}

/** Bodies may be long, and a page is in memory as a whole. */
const PAGE_SIZE = 50;
const EXPORT_BUDGET_MS = 20;
const COLUMNS = [...Object.keys(CALLBACK.shape), "event_state"];

/** All matching callbacks, newest first, page by page as they are read. It ends when the reader has disconnected. */
export async function* exportLines(
  callbacks: Callbacks,
  filter: CallbackFilter,
  format: "ndjson" | "csv",
  gone: AbortSignal,
): AsyncGenerator<string, void, void> {
  if (format === "csv") yield csvLine(COLUMNS);
  const lineOf = format === "csv" ? csvRow : (view: object) => `${JSON.stringify(view)}\n`;
  for (let before: number | null | undefined; before !== null && !gone.aborted; ) {
    const startedAt = performance.now();
    const page = await callbacks.search(filter, { limit: PAGE_SIZE, budgetMs: EXPORT_BUDGET_MS, before });
    const states = await callbacks.eventStates(page.callbacks);
    const lines = page.callbacks
      .map((row, index) => lineOf({ ...presentCallback(row), event_state: states[index] ?? null }))
      .join("");
    before = page.next;
    // At most half of the time is the export's: callbacks are answered meanwhile.
    await sleep(performance.now() - startedAt);
    if (lines !== "") yield lines;
  }
}

function csvRow(view: Readonly<Record<string, unknown>>): string {
  const cells = COLUMNS.map((name) => {
    const value = view[name] ?? "";
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  });
  return csvLine(cells);
}

/** Spreadsheets read these as the beginning of a formula: full-width signs too, and after invisible characters. */
const FORMULA_START = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;
/**
 * A spreadsheet that splits at `;` or tabs, as many locales do, ignores these quotes. A part after one of them, or after a
 * line end, is another cell. The second group is the sign that it begins with, if any.
 */
const EMBEDDED_CELLS = /([;\t\r\n][;\s\p{Cc}\p{Cf}"']*)([=+\-@＝＋－＠]?)/gu;

/** RFC 4180, every cell in quotes. After an apostrophe a spreadsheet reads text. */
function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((cell) => {
    const text = cell.replace(EMBEDDED_CELLS, (part, before, sign) => (sign === "" ? part : `${before}'${sign}`));
    return `"${(FORMULA_START.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  });
  return `${quoted.join(",")}\r\n`;
}

/** How long a client may leave written bytes unread. */
const MAX_STALL_MS = 60_000;

/** Aborted once the client has disconnected, by itself or because it left the response unread for too long. */
export function clientDisconnected(response: ServerResponse, longestUnreadMs = MAX_STALL_MS): AbortSignal {
  const gone = new AbortController();
  finished(response, () => gone.abort());
  response.setTimeout(longestUnreadMs, () => {
    if (response.writableLength > 0) response.destroy();
    // No byte is unread: the search has found no row for so long, and goes on.
    else response.setTimeout(longestUnreadMs);
  });
  return gone.signal;
}
