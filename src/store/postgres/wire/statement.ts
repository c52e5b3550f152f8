import type { CompiledQuery, QueryResult } from "kysely";
import pg from "pg";
import { getOrMake } from "../../../domain/index.ts";
import { bindQuery, postgresDialect } from "../../bind-query.ts";
import type { Query } from "../../database.ts";
import { ConnectionLost, isReadOnlyServer, markStaleStatement } from "./database-errors.ts";
import type { WireStatement } from "./message-writer.ts";
import { qualifiedNamesOf } from "./names-of-connection.ts";
import { isPooled } from "./pooled-connections.ts";
import { namesOf } from "./prepared-names.ts";
import { StatementBatch, type StatementResult, toQueryResult, typedStatement } from "./statement-batch.ts";

/** How long the answer of a statement may be overdue before the connection counts as dead. */
const RESPONSE_GRACE_MS = 2_000;
const CLOCK_SLACK_MS = 100;

/** The state of a connection, beside the driver's. */
interface Session {
  /** Milliseconds after which an answer is given up. */
  limitMs: number | undefined;
  /** So many more for each further statement of a batch. */
  furtherMs: number;
  /** A statement was given up: its answer may still come, and would be taken for another's. */
  isUnresponsive: boolean;
  /** It refused a write. A server that became a standby keeps its connections, and a new one may lead to the primary. */
  isReadOnly: boolean;
  /** The last call, while it is under way: the driver's own queue is deprecated. */
  current: { readonly what: object; readonly ended: Promise<unknown> } | undefined;
}

const sessions = new WeakMap<pg.ClientBase, Session>();

function sessionOf(client: pg.ClientBase): Session {
  return getOrMake(sessions, client, () => ({
    limitMs: undefined,
    furtherMs: 0,
    isUnresponsive: false,
    isReadOnly: false,
    current: undefined,
  }));
}

/** After this time without an answer the driver gives a statement up, beyond the server's own limit for it. */
export function responseTimeout(statementTimeoutMs: number): number {
  return statementTimeoutMs + RESPONSE_GRACE_MS;
}

export function setResponseTimeout(client: pg.ClientBase, ms: number, furtherMs = 0): void {
  const session = sessionOf(client);
  session.limitMs = ms;
  session.furtherMs = furtherMs;
}

export function mustBeReplaced(client: pg.ClientBase): boolean {
  const { isUnresponsive, isReadOnly } = sessionOf(client);
  return isUnresponsive || isReadOnly;
}

/** Lets what is sent next on the connection wait for what the driver was asked directly. */
export function waitFor(client: pg.ClientBase, what: Promise<unknown>): void {
  const session = sessionOf(client);
  session.current = { what, ended: Promise.allSettled([session.current?.ended, what]) };
}

/** Tells a server that does not answer from one that refuses. */
function sendNow(client: pg.ClientBase, session: Session, request: StatementBatch) {
  const startedAt = performance.now();
  return new Promise<readonly StatementResult[]>((resolve, reject) => {
    // Behind a statement that was given up the next one would wait as long again.
    if (session.isUnresponsive) return reject(new ConnectionLost("PostgreSQL did not answer an earlier statement"));
    const limitMs = request.query_timeout ?? session.limitMs ?? Number.POSITIVE_INFINITY;
    request.callback = (error, answers = []) => {
      if (session.current?.what === request) session.current = undefined;
      if (!error) return resolve(answers);
      if (isReadOnlyServer(error)) session.isReadOnly = true;
      reject(timeoutError(session, performance.now() - startedAt, limitMs, error) ?? error);
    };
    client.query(request);
  });
}

function timeoutError(session: Session, waitedMs: number, limitMs: number, cause: Error): ConnectionLost | undefined {
  // The driver's timer and this clock may differ by a little.
  if (cause instanceof pg.DatabaseError || waitedMs <= limitMs - CLOCK_SLACK_MS) return undefined;
  session.isUnresponsive = true;
  return new ConnectionLost(`PostgreSQL did not answer for ${Math.round(waitedMs)} ms`, { cause });
}

/**
 * Sends what needs one answer, once it is its turn.
 * @param limitMs after which the connection counts as dead, where that is before its own limit
 * @throws ConnectionLost when the answer did not come; otherwise the driver's error, once the exchange has ended
 */
export function sendBatch(client: pg.ClientBase, sent: StatementBatch | readonly WireStatement[], limitMs?: number) {
  const request = sent instanceof StatementBatch ? sent : new StatementBatch(sent);
  const session = sessionOf(client);
  if (session.limitMs !== undefined) {
    const ownMs = session.limitMs + session.furtherMs * (request.size - 1);
    request.query_timeout = Math.min(limitMs ?? ownMs, ownMs);
  }
  const go = () => sendNow(client, session, request);
  const answer = session.current?.ended.then(go, go) ?? go();
  session.current = { what: request, ended: answer };
  return answer;
}

const readTime = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date;
const PARSERS = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.NUMERIC, Number],
  [pg.types.builtins.TIMESTAMPTZ, (text) => readTime(text).toISOString()],
]);
/** Areas get the values that SQLite returns. */
const AREA_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (type) => PARSERS.get(type) ?? pg.types.getTypeParser(type),
};

export interface ExecuteOptions {
  /** Statements that go before it in the same round trip. */
  readonly prefix?: readonly WireStatement[];
  /** Whether it may be kept parsed; not after a statement that may have changed what names mean. */
  readonly isCached?: boolean;
  /** How the driver reads columns; default: as it does for handlers. */
  readonly types?: pg.CustomTypesConfig;
}

/** Runs the statements of areas on one connection. */
export function queryOn(client: pg.ClientBase): Query {
  return bindQuery(postgresDialect, (compiled) => executeOwn(client, compiled));
}

/** Runs a statement of Oncehook's own, with the values that areas get. */
export function executeOwn(
  client: pg.ClientBase,
  { sql, parameters }: Pick<CompiledQuery, "sql" | "parameters">,
  options: ExecuteOptions = {},
): Promise<QueryResult<unknown>> {
  const text = qualifiedNamesOf(client).text(sql);
  return executeOn(client, { sql: text, parameters }, { types: AREA_TYPES, ...options });
}

/** Runs a statement that Kysely compiled, or that a handler wrote, and returns what Kysely expects. */
export async function executeOn(
  client: pg.ClientBase,
  query: Pick<CompiledQuery, "sql" | "parameters">,
  { prefix = [], isCached = true, types }: ExecuteOptions = {},
): Promise<QueryResult<unknown>> {
  const names = namesOf(client);
  const name = isCached && !isPooled(client) ? names.nameFor(query.sql) : undefined;
  try {
    const answers = await sendBatch(client, [...prefix, typedStatement(query, name, types)]);
    return toQueryResult(answers[prefix.length]);
  } catch (error) {
    if (name !== undefined && names.drop(query.sql, error)) markStaleStatement(error);
    throw error;
  }
}
