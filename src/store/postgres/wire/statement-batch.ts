import type { CompiledQuery, QueryResult } from "kysely";
import pg from "pg";
import { getOrMake } from "../../../domain/index.ts";
import { markStaleStatement } from "./database-errors.ts";
import { internalsOf, Result, type TypedResult, utils, type Wire } from "./driver.ts";
import { MessageWriter, type WireStatement } from "./message-writer.ts";
import { settingsOf, withSettings } from "./pooled-connections.ts";
import { isStaleStatement } from "./prepared-names.ts";

export interface StatementResult {
  /** The command's tag without its numbers, such as `INSERT` or `COMMIT`. */
  readonly command: string;
  readonly rowCount: number;
  /** The columns as texts, in the statement's order. */
  readonly rows: readonly (readonly (string | null)[])[];
  readonly typedRows?: unknown[];
}

type CompiledStatement = Pick<CompiledQuery, "sql" | "parameters">;

/** A statement that Kysely compiled, or that a handler wrote. @throws what a value's own conversion throws */
export function typedStatement(
  { sql, parameters }: CompiledStatement,
  name: string | undefined,
  types?: pg.CustomTypesConfig,
): WireStatement {
  const values = parameters.map((value) => utils.prepareValue(value));
  return { text: sql, values, isTyped: true, ...(name && { name }), ...(types && { types }) };
}

/** The answer to a typed statement, as Kysely expects it. */
export function toQueryResult(answer: StatementResult | undefined): QueryResult<unknown> {
  return { rows: answer?.typedRows ?? [], numAffectedRows: BigInt(answer?.rowCount ?? 0) };
}

const TAG = /^[A-Z ]*[A-Z]/;

/** By the driver's object for a connection's names. */
const writers = new WeakMap<object, MessageWriter>();

/**
 * Several statements in one round trip. One Sync ends them: the server skips the rest after a statement that failed (manual,
 * 54.2.3). So a COMMIT at the end is run after all before it, or not at all.
 */
export class StatementBatch implements pg.Submittable {
  /** Set by the driver's `query`. */
  callback: ((error: Error | null | undefined, answers?: readonly StatementResult[]) => void) | undefined;
  /** The answers that came, also where a later statement failed. */
  readonly results: StatementResult[] = [];
  /** False: the driver refused it, and the server knows nothing of it. */
  isSent = false;
  /** Whether the server went on after its error, so that the connection's transaction status is of now. */
  isReady = false;
  /** The driver's name: milliseconds after which it gives the answer up; undefined for the connection's own limit. */
  query_timeout: number | undefined;
  #statements: readonly WireStatement[];
  #settings: WireStatement | undefined;
  /** How many statements the server has answered, settings included. */
  #answered = 0;
  #parsed: Wire["parsedStatements"] = {};
  #rows: (readonly (string | null)[])[] = [];
  #typed: TypedResult | undefined;
  /** A value that its type's parser does not take. */
  #parseError: Error | undefined;

  constructor(statements: readonly WireStatement[]) {
    this.#statements = statements;
  }

  get size(): number {
    return this.#statements.length;
  }

  /** @returns why it sent nothing, as the driver expects it: after an exception it would wait for an answer */
  submit(connection: unknown): Error | null {
    const wire = connection as Wire;
    this.#settings = settingsOf(wire);
    try {
      this.#statements = withSettings(wire, this.#statements);
      send(wire, this.#statements);
    } catch (error) {
      return error as Error;
    }
    this.#parsed = wire.parsedStatements;
    this.isSent = true;
    return null;
  }

  handleRowDescription({ fields }: { readonly fields: readonly unknown[] }): void {
    this.#typed = new Result(undefined, this.#statements[this.#answered]?.types);
    this.#typed.addFields(fields);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#typed === undefined) {
      this.#rows.push(fields);
      return;
    }
    try {
      this.#typed.rows.push(this.#typed.parseRow(fields));
    } catch (error) {
      this.#parseError ??= error as Error;
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const statement = this.#statements[this.#answered];
    this.#answered += 1;
    if (statement?.name) this.#parsed[statement.name] = statement.text;
    if (statement === this.#settings && statement !== undefined) {
      this.#rows = [];
      return;
    }
    const rowCount = Number(text.slice(text.lastIndexOf(" ") + 1));
    const command = TAG.exec(text)?.[0] ?? text;
    const result = { command, rowCount: Number.isNaN(rowCount) ? 0 : rowCount, rows: this.#rows };
    this.results.push(this.#typed === undefined ? result : { ...result, typedRows: this.#typed.rows });
    this.#rows = [];
    this.#typed = undefined;
  }

  /** Waits for ReadyForQuery, so that the transaction status is known when the error is reported. */
  handleError(error: Error, connection: unknown): void {
    // The connection itself failed. An error that the server sent is followed by the end of either.
    if (!(error instanceof pg.DatabaseError)) {
      this.callback?.(error);
      return;
    }
    // A rejected name is parsed again next time, which may fix the error.
    const name = this.#statements[this.#answered]?.name;
    if (name && this.#parsed[name] !== undefined) {
      delete this.#parsed[name];
      if (isStaleStatement(error)) markStaleStatement(error);
    }
    const wire = connection as Wire;
    const ready = (): void => {
      this.isReady = true;
      ended();
    };
    const ended = (): void => {
      wire.removeListener("readyForQuery", ready);
      wire.removeListener("end", ended);
      this.callback?.(error);
    };
    wire.on("readyForQuery", ready);
    wire.on("end", ended);
  }

  handleReadyForQuery(): void {
    const { callback } = this;
    // A batch that has ended keeps no values of a group, and no next batch (decision 0068).
    this.callback = undefined;
    this.#statements = [];
    callback?.(this.#parseError, this.results);
  }

  /** The server ignores the Sync of before while it waits for rows. */
  handleCopyInResponse(connection: unknown): void {
    const wire = connection as Wire;
    wire.sendCopyFail("a statement of a handler cannot COPY from its process");
    wire.sync();
  }

  // The driver calls these too; nothing here pages.
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
  handleCopyData(): void {}
}

/** After DISCARD ALL the server knows none of the names that a connection had. */
export function forgetPreparedNames(client: pg.ClientBase): void {
  const { parsedStatements } = internalsOf(client).connection;
  for (const name of Object.keys(parsedStatements)) delete parsedStatements[name];
}

/** Sends statements in one piece: each piece that goes out by itself costs more than what is in it. */
function send(wire: Wire, statements: readonly WireStatement[]): void {
  const { parsedStatements: parsed, stream } = wire;
  const writer = getOrMake(writers, parsed, () => new MessageWriter());
  writer.start();
  for (const { text, values = [], name = "", isTyped } of statements) {
    if (parsed[name] === undefined) {
      // How far a failed exchange had come is not known for its names.
      if (name !== "") writer.close(name);
      writer.parse(text, name);
    }
    writer.bind(name, values);
    if (isTyped) writer.describe();
    writer.execute();
  }
  writer.sync();
  // As the driver does: of a connection that has ended it learns by an event.
  if (stream.writable) stream.write(writer.written);
}
