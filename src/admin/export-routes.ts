import type { ServerResponse } from "node:http";
import { finished, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { SearchPage } from "../store/index.ts";
import { requireCaller } from "./access/guard.ts";
import type { RouteDependencies } from "./admin-dependencies.ts";
import { CALLBACK_FILTER, callbackFilter } from "./callback-routes.ts";
import { CALLBACK } from "./callback-schemas.ts";
import { csvLine } from "./csv-line.ts";
import { HttpError, operation } from "./operation.ts";
import { presentCallback, presentFailure } from "./present.ts";
import * as input from "./request-parameters.ts";
import { FAILURE } from "./schemas.ts";

const FORMAT = { format: z.enum(["ndjson", "csv"]).default("ndjson") };
type Format = z.output<typeof FORMAT.format>;
const MEDIA = { media: ["application/x-ndjson", "text/csv"] } as const;
const BUSY = { 503: "This process runs the maximum of exports." };
const EXPORT_CALLBACKS = operation({
  summary: "The callback log as a file",
  description:
    "The same filters without a page: everything that matches, newest first, for as long as the reader takes it: a client that reads nothing for a " +
    "minute is disconnected. `event_state` is the event's state by now: `completed`, `accepted`, `waiting`, `exhausted`, `rejected`, or null. In CSV, cells that a spreadsheet would run begin with an apostrophe.",
  querystring: { ...FORMAT, ...CALLBACK_FILTER },
  responses: {
    200: ["One callback a line, as JSON or as CSV with a head.", MEDIA],
    ...BUSY,
  },
});
const EXPORT_FAILURES = operation({
  summary: "The failures as a file",
  description:
    "What failed and is not handled since: events whose platform got 500, and accepted ones, which it counts as delivered. The filters of the list, without a page, newest first.",
  querystring: { ...FORMAT, ...input.FAILURE_FILTER, ...input.EVENT_QUERY },
  responses: { 200: ["One failure a line, as JSON or as CSV with a head.", MEDIA], ...BUSY },
});

/** Each searches for half of the time. */
const MAX_EXPORTS = 4;
/** A claim can be read again from the body and the headers, which a file has. */
const CALLBACK_COLUMNS = [...Object.keys(CALLBACK.shape).filter((name) => name !== "claimed"), "event_state"];
const FAILURE_COLUMNS = Object.keys(FAILURE.shape);

export function registerExports(app: FastifyInstance, deps: RouteDependencies): void {
  const { store, callbackLog } = deps;
  const send = createExports(deps);
  app.get("/api/v1/callbacks/export", EXPORT_CALLBACKS, async (request, reply) => {
    const { format, ...query } = request.query;
    const filter = callbackFilter(query);
    const pages: ReadPage = async (page) => {
      const { callbacks, next } = await store.callbacks.search(filter, page);
      const states = await store.callbacks.eventStates(callbacks);
      const rows = callbacks.map((row, index) => {
        const { claimed: _claimed, ...view } = presentCallback(row);
        return { ...view, event_state: states[index] ?? null };
      });
      return { rows, next };
    };
    const file = { name: "callbacks", columns: CALLBACK_COLUMNS, format, pages };
    return send(request, reply, file, () => callbackLog.flush());
  });
  app.get("/api/v1/failures/export", EXPORT_FAILURES, async (request, reply) => {
    const { format, event_id: eventId, ...query } = request.query;
    const filter = { ...input.failureFilter(query), eventId };
    const pages: ReadPage = async (page) => {
      const { rows, next } = await store.failures.search(filter, page);
      return { rows: rows.map((row) => presentFailure(row, deps)), next };
    };
    return send(request, reply, { name: "failures", columns: FAILURE_COLUMNS, format, pages });
  });
}

type ReadPage = (page: SearchPage) => Promise<{ readonly rows: readonly object[]; readonly next: number | null }>;

/** The rows of an export, and the shape of its lines. */
export interface Exported {
  readonly columns: readonly string[];
  readonly format: Format;
  readonly pages: ReadPage;
}

/** All exports of a process share their number, and each ends with the session that asked for it. */
function createExports({ authenticator, clock, log }: RouteDependencies) {
  /** The responses of running exports, with the hash of the session that each was asked with. */
  const running = new Map<ServerResponse, string | undefined>();
  authenticator.onSessionEnd((ended) => {
    for (const [response, idSha256] of running) if (idSha256 === ended) response.destroy();
  });
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    { name, ...exported }: Exported & { readonly name: string },
    flush = async (): Promise<void> => {},
  ) => {
    if (running.size >= MAX_EXPORTS) {
      const error = `${MAX_EXPORTS} exports run on this process, and no more may; try again when one has ended`;
      throw new HttpError(503, error, { "retry-after": "10" });
    }
    running.set(reply.raw, requireCaller(request).session?.idSha256);
    // Fastify, the guard of connections and an export all listen for its end.
    reply.raw.setMaxListeners(20);
    // A client may have left before this line, and "close" is never emitted again.
    finished(reply.raw, () => running.delete(reply.raw));
    const lines = exportLines(exported, clientDisconnected(reply.raw));
    await flush();
    const startedAt = clock.now().toISOString().slice(0, 19).replaceAll(":", "-");
    const { format } = exported;
    const type = format === "csv" ? "text/csv; header=present" : "application/x-ndjson";
    const stream = Readable.from(lines, { objectMode: false, highWaterMark: 65_536 });
    stream.on("error", (error) => {
      if ((error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE") return;
      log.warn({ err: error }, "an export was broken off");
    });
    return reply
      .header("content-type", `${type}; charset=utf-8`)
      .header("content-disposition", `attachment; filename="${name}-${startedAt}.${format}"`)
      .send(stream);
  };
}

/** Bodies may be long, and a page is in memory as a whole. */
const PAGE_SIZE = 50;
const EXPORT_BUDGET_MS = 20;

/** All matching rows, newest first, page by page as they are read. It ends when the reader has disconnected. */
export async function* exportLines(
  { columns, format, pages }: Exported,
  gone: AbortSignal,
): AsyncGenerator<string, void, void> {
  if (format === "csv") yield csvLine(columns);
  const lineOf = (view: object) => (format === "csv" ? csvRow(columns, view) : `${JSON.stringify(view)}\n`);
  for (let before: number | null | undefined; before !== null && !gone.aborted; ) {
    const startedAt = performance.now();
    const page = await pages({ limit: PAGE_SIZE, budgetMs: EXPORT_BUDGET_MS, before });
    const lines = page.rows.map(lineOf).join("");
    before = page.next;
    // At most half of the time is the export's: callbacks are answered meanwhile.
    await sleep(performance.now() - startedAt);
    if (lines !== "") yield lines;
  }
}

function csvRow(columns: readonly string[], view: object): string {
  const fields = view as Readonly<Record<string, unknown>>;
  const cells = columns.map((name) => {
    const value = fields[name] ?? "";
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  });
  return csvLine(cells);
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
