import { createHash } from "node:crypto";
import pg from "pg";
import { getOrMake } from "../../../domain/index.ts";
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

/**
 * SQLSTATEs of a statement that was parsed before its tables changed. They are "cached plan must not change result type", a
 * changed type or name, and an unknown name.
 */
const STALE_STATES = /^(?:0A|42|26)/;

export function isStaleStatement(error: unknown): boolean {
  return error instanceof pg.DatabaseError && STALE_STATES.test(error.code ?? "");
}

/** So many texts of handlers are kept parsed on each connection; later ones are parsed each time, as they come. */
const MAX_NAMES = 64;
const MAX_SEEN = 256;

/** The names of the texts that one store keeps parsed. Another store of the process has names of its own. */
export class PreparedNames {
  /** Text to name; undefined for a text whose name was given up. */
  readonly #names = new Map<string, string | undefined>();
  /** Texts that came once: those with values written into them never come again, and shall not take a name. */
  #seen = new Set<string>();

  /** The name under which a text is parsed and planned once for each connection, from its second time on. */
  nameFor(text: string): string | undefined {
    if (this.#names.has(text)) return this.#names.get(text);
    if (this.#names.size >= MAX_NAMES) return undefined;
    if (!this.#seen.has(text)) {
      if (this.#seen.size >= MAX_SEEN) this.#seen = new Set();
      this.#seen.add(text);
      return undefined;
    }
    this.#seen.delete(text);
    const name = nameOf(text);
    this.#names.set(text, name);
    return name;
  }

  /** After an error. @returns whether it may come from an old parse: a retry of the transaction parses it again */
  drop(text: string, error: unknown): boolean {
    if (!isStaleStatement(error)) return false;
    this.#names.set(text, undefined);
    return true;
  }
}

const namesByClient = new WeakMap<object, PreparedNames>();

export function shareNames(client: object, names: PreparedNames): void {
  namesByClient.set(client, names);
}

/** Those of its pool; a connection of no pool has names of its own. */
export function namesOf(client: object): PreparedNames {
  return getOrMake(namesByClient, client, () => new PreparedNames());
}
