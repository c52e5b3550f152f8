import pg from "pg";
import { markOutdated } from "./hindrance.ts";
import { isOutdated } from "./statement-names.ts";

/** One statement of an exchange. Its values are what the store itself sends: texts, numbers and null. */
export interface Sent {
  readonly text: string;
  readonly values?: readonly (string | number | null)[];
  /** What has a name is parsed once for each connection, other texts each time. */
  readonly name?: string;
}

/** What the server answered to one statement. */
export interface Answer {
  /** The command's tag without its numbers, such as `INSERT` or `COMMIT`. */
  readonly command: string;
  readonly rowCount: number;
  /** The columns as texts, in the statement's order. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/** pg's connection, as its types do not know it: they leave parts out, or have them as they once were. */
export interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  /** The driver's own names; one object for each connection. */
  readonly parsedStatements: Record<string, unknown>;
  parse(statement: { text: string; name: string }): void;
  bind(portal: { statement: string; values: readonly (string | null)[] }): void;
  execute(portal: object): void;
  close(statement: { type: "S"; name: string }): void;
  sync(): void;
  on(event: "readyForQuery" | "end", listener: () => void): void;
  removeListener(event: "readyForQuery" | "end", listener: () => void): void;
}

type Callback = (error: Error | null | undefined, answers?: readonly Answer[]) => void;

const TAG = /^[A-Z ]*[A-Z]/;
const UNNAMED_PORTAL = {};
/** The names that the server at the other end of a connection is known to have parsed. */
const parsed = new WeakMap<object, Set<string>>();

/**
 * Several statements in one round trip. One Sync ends them: the server skips whatever stands behind a statement that
 * failed (manual, 54.2.3), so that a COMMIT at the end is run after what stands before it, or not at all.
 */
export class Exchange implements pg.Submittable {
  /** Set by the driver's `query`. */
  callback: Callback | undefined;
  /** The answers that came, also where a later statement failed. */
  readonly answers: Answer[] = [];
  /** False: the driver refused it, and the server knows nothing of it. */
  isSent = false;
  /** The driver's name: milliseconds after which it gives the answer up; undefined for the connection's own limit. */
  query_timeout: number | undefined;
  readonly #statements: readonly Sent[];
  #names: Set<string> | undefined;
  #rows: (readonly (string | null)[])[] = [];

  constructor(statements: readonly Sent[]) {
    this.#statements = statements;
  }

  submit(connection: unknown): void {
    this.isSent = true;
    const wire = connection as Wire;
    inOnePiece(wire, () => {
      this.#names = send(wire, this.#statements);
      wire.sync();
    });
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const name = this.#statements[this.answers.length]?.name;
    if (name !== undefined) this.#names?.add(name);
    const rowCount = Number(text.slice(text.lastIndexOf(" ") + 1));
    const command = TAG.exec(text)?.[0] ?? text;
    this.answers.push({ command, rowCount: Number.isNaN(rowCount) ? 0 : rowCount, rows: this.#rows });
    this.#rows = [];
  }

  /** Waits for the end of the exchange, so that whoever hears of the error knows how the transaction stands. */
  handleError(error: Error, connection: unknown): void {
    // The connection itself failed. An error that the server sent is followed by the end of either.
    if (!(error instanceof pg.DatabaseError)) {
      this.callback?.(error);
      return;
    }
    // A name that was refused is parsed anew the next time, which may be all that it needs.
    const name = this.#statements[this.answers.length]?.name;
    if (name !== undefined && this.#names?.delete(name) && isOutdated(error)) markOutdated(error);
    const wire = connection as Wire;
    const ended = (): void => {
      wire.removeListener("readyForQuery", ended);
      wire.removeListener("end", ended);
      this.callback?.(error);
    };
    wire.on("readyForQuery", ended);
    wire.on("end", ended);
  }

  handleReadyForQuery(): void {
    this.callback?.(null, this.answers);
  }

  // The driver calls these too; nothing is described, and nothing here copies or pages.
  handleRowDescription(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

/** After DISCARD ALL the server knows none of the names that a connection had. */
export function forgetNames(client: pg.ClientBase): void {
  const { parsedStatements } = (client as unknown as { connection: Wire }).connection;
  for (const name of Object.keys(parsedStatements)) delete parsedStatements[name];
  parsed.delete(parsedStatements);
}

/** Sends the messages together: each piece that goes out by itself costs more than what is in it. */
export function inOnePiece<T>(wire: Wire, write: () => T): T {
  wire.stream.cork();
  try {
    return write();
  } finally {
    wire.stream.uncork();
  }
}

/** Sends statements without the Sync that ends them. @returns where to note the names that were answered */
export function send(wire: Wire, statements: readonly Sent[]): Set<string> {
  let names = parsed.get(wire.parsedStatements);
  if (names === undefined) {
    names = new Set();
    parsed.set(wire.parsedStatements, names);
  }
  for (const { text, values = [], name = "" } of statements) {
    if (!names.has(name)) {
      // How far a failed exchange had come is not known for its names; to close an unknown one is no error.
      if (name !== "") wire.close({ type: "S", name });
      wire.parse({ text, name });
    }
    wire.bind({ statement: name, values: values.map((value) => (value === null ? null : String(value))) });
    wire.execute(UNNAMED_PORTAL);
  }
  return names;
}
