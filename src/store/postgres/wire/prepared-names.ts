import { createHash } from "node:crypto";
import pg from "pg";
import type { WireStatement } from "./message-writer.ts";

const HASH_LENGTH = 32;

/** A statement's name follows from its text: processes that share a pooler's connections mean one statement by it. */
export function nameOf(text: string): string {
  return `oncehook_${createHash("sha256").update(text).digest("hex").slice(0, HASH_LENGTH)}`;
}

/** A statement that each connection parses once. */
export function prepared(text: string): WireStatement {
  return { name: nameOf(text), text };
}

/** So many texts of handlers are kept parsed on each connection; later ones are parsed each time, as they come. */
const MAX_NAMES = 64;
const MAX_SEEN = 256;
/** Text to name; undefined for a text whose name was given up. */
const names = new Map<string, string | undefined>();
/** Texts that came once: those with values written into them never come again, and shall not take a name. */
let seen = new Set<string>();

/** The name under which a text is parsed and planned once for each connection, from its second time on. */
export function preparedName(text: string): string | undefined {
  if (names.has(text)) return names.get(text);
  if (names.size >= MAX_NAMES) return undefined;
  if (!seen.has(text)) {
    if (seen.size >= MAX_SEEN) seen = new Set();
    seen.add(text);
    return undefined;
  }
  seen.delete(text);
  const name = nameOf(text);
  names.set(text, name);
  return name;
}

/**
 * SQLSTATEs of a statement that was parsed before its tables changed. They are "cached plan must not change result type", a
 * changed type or name, and an unknown name.
 */
const STALE_STATES = /^(?:0A|42|26)/;

export function isStaleStatement(error: unknown): boolean {
  return error instanceof pg.DatabaseError && STALE_STATES.test(error.code ?? "");
}

/** After an error. @returns whether it may come from an old parse: a retry of the transaction parses it again */
export function dropPreparedName(text: string, error: unknown): boolean {
  if (!isStaleStatement(error)) return false;
  names.set(text, undefined);
  return true;
}
