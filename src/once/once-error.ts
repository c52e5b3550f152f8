/** `once` could not be used in this way; nothing was written. `code` is PostgreSQL's error code. */
export class OnceError extends Error {
  override readonly name = "OnceError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** PostgreSQL's "no active SQL transaction". */
export const NO_TRANSACTION = "25P01";

export function notATransaction(what: string, cause?: unknown): OnceError {
  const message = `once() needs a transaction that is open, and got ${what}: open one, and give once() its own handle`;
  return new OnceError(NO_TRANSACTION, message, { cause });
}

/** How deep a library may wrap an error of the database. */
const MAX_CAUSES = 6;

interface Wrapping {
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly originalCode?: unknown;
  readonly meta?: { readonly driverAdapterError?: unknown } | undefined;
}

/**
 * PostgreSQL's code of an error: `code` in pg, postgres.js, Kysely, Knex and TypeORM, `cause.code` in Drizzle.
 * In Prisma it is `meta.driverAdapterError.cause.originalCode`, and `code` is one of Prisma's, such as P2010.
 */
export function sqlState(error: unknown): string | undefined {
  let current = error as Wrapping | null | undefined;
  for (let depth = 0; depth < MAX_CAUSES && typeof current === "object" && current !== null; depth += 1) {
    if (typeof current.originalCode === "string") return current.originalCode;
    if (typeof current.code === "string" && /^[0-9A-Z]{5}$/.test(current.code) && !/^P[12]/.test(current.code))
      return current.code;
    current = (current.meta?.driverAdapterError ?? current.cause) as Wrapping | undefined;
  }
  return undefined;
}
