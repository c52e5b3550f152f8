import type { Writable } from "node:stream";
import pg from "pg";
import manifest from "pg/package.json" with { type: "json" };
import type { WireValue } from "./message-writer.ts";

/** The version whose members decision 0093 lists. */
export const SUPPORTED_PG = "8.23.1";

/** The driver's connection: its types leave parts out, or have them as they once were. */
export interface Wire {
  readonly stream: Pick<Writable, "writable" | "write">;
  /** The texts that the server is known to have parsed, by their names; the driver notes its own here. */
  readonly parsedStatements: Record<string, unknown>;
  on(event: "readyForQuery" | "end", listener: () => void): void;
  sendCopyFail(message: string): void;
  sync(): void;
  removeListener(event: "readyForQuery" | "end", listener: () => void): void;
}

export interface TypedResult {
  readonly rows: unknown[];
  addFields(fields: readonly unknown[]): void;
  parseRow(values: readonly (string | null)[]): unknown;
}

/** Parts of the driver that its types leave out. */
export const { utils, Result } = pg as unknown as {
  readonly utils: { prepareValue(value: unknown): WireValue };
  readonly Result: new (rowMode?: "array", types?: pg.CustomTypesConfig) => TypedResult;
};

interface ClientInternals {
  readonly connection: Wire;
  /** Of the server's process, from the start of the session on. */
  readonly processID: number | null;
}

export function internalsOf(client: pg.ClientBase): ClientInternals {
  return client as unknown as ClientInternals;
}

const OF_RESULT = { addFields: "function", parseRow: "function", rows: "object" };
const OF_STREAM = { writable: "boolean", write: "function" };
const OF_EMITTER = { on: "function", removeListener: "function" };
const OF_CONNECTION = { ...OF_EMITTER, parsedStatements: "object", sendCopyFail: "function", sync: "function" };
const OF_CLIENT = { processID: "object", getTransactionStatus: "function", connection: "object" };
/** The client calls these of the sent object, in the order of the server's messages. The driver's query has them too. */
const OF_QUERY = {
  submit: "function",
  handleRowDescription: "function",
  handleDataRow: "function",
  handlePortalSuspended: "function",
  handleEmptyQuery: "function",
  handleCommandComplete: "function",
  handleError: "function",
  handleReadyForQuery: "function",
  handleCopyInResponse: "function",
  handleCopyData: "function",
};

/** For decision 0093. @throws Error that names the first missing member, the installed version and the supported one */
export function assertDriver(client: pg.ClientBase): void {
  const { connection } = internalsOf(client);
  const expected: readonly [name: string, holder: unknown, kinds: Readonly<Record<string, string>>][] = [
    ["pg", pg, { utils: "object", Result: "function" }],
    ["pg.utils", utils, { prepareValue: "function" }],
    ["pg.Result", Result && new Result(), OF_RESULT],
    ["pg.Query", pg.Query.prototype, OF_QUERY],
    ["client", client, OF_CLIENT],
    ["client.connection", connection, { ...OF_CONNECTION, stream: "object" }],
    ["client.connection.stream", connection?.stream, OF_STREAM],
  ];
  for (const [name, holder, kinds] of expected)
    for (const [member, kind] of Object.entries(kinds)) {
      const found = typeof Reflect.get(Object(holder), member);
      if (found === kind) continue;
      throw new Error(
        `the PostgreSQL driver pg ${manifest.version} does not fit: ${name}.${member} is of the type ${found}, ` +
          `expected ${kind}. Install pg ${SUPPORTED_PG}, the version that Oncehook was tested with. The package ` +
          `brings it; there a runtime other than Node.js or Bun, or one too new, is the cause: ${process.version}`,
      );
    }
}
