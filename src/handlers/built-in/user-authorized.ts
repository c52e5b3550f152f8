import { z } from "zod";
import type { JsonObject } from "../../domain/index.ts";
import type { Sealer } from "../../seal/index.ts";
import { type Migration, sql } from "../../store/index.ts";
import { defineHandler } from "../define-handler.ts";
import type { Handler } from "../handler.ts";
import { Rejected } from "../rejected.ts";
import { idText, storableText } from "./text-fields.ts";

/** The answer of a token endpoint (RFC 6749 §5.1), as JSON. */
export type TokenAnswer = JsonObject & { access_token: string };

/**
 * Exchanges an authorization code (RFC 6749 §4.1.3).
 * @throws Rejected when the platform refuses the code; another error when it could not be asked
 */
export type ExchangeCode = (code: string, signal: AbortSignal) => Promise<TokenAnswer>;

type Tables = {
  users: { user_id: string; sealed_tokens: Uint8Array; expires_at: string | null; updated_at: string };
};

const users: Migration = {
  name: "built-in-users",
  async up({ query, dialect }) {
    const [bytes, time] = dialect === "postgres" ? ["bytea", "timestamptz"] : ["blob", "text"];
    await sql
      .raw(`CREATE TABLE users (
        user_id text PRIMARY KEY,
        sealed_tokens ${bytes} NOT NULL,
        expires_at ${time},
        updated_at ${time} NOT NULL
      )`)
      .execute(query);
  },
};

/** SPEC 6.3: exchanges the code for an access token and stores the user, the tokens encrypted. */
export function userAuthorized({ exchange, sealer }: { exchange: ExchangeCode; sealer: Sealer }): Handler {
  return defineHandler({
    type: "user_authorized",
    data: z.object({ code: storableText, user_id: idText.optional() }),
    migrations: [users],
    // An authorization code works once, so its exchange must survive whatever happens to the transaction.
    prepare: ({ event, signal }) => exchange(event.data.code, signal),
    async handle({ event, tx, prepared: tokens, now }) {
      const user_id = event.data.user_id ?? userOf(tokens);
      const row = {
        sealed_tokens: sealer.seal(Buffer.from(JSON.stringify(tokens)), `users ${user_id}`),
        expires_at: expiry(tokens, now),
        updated_at: now.toISOString(),
      };
      await tx.query
        .withTables<Tables>()
        .insertInto("users")
        .values({ user_id, ...row })
        .onConflict((conflict) => conflict.column("user_id").doUpdateSet(row))
        .execute();
      return { user_id };
    },
  });
}

/** Where the event names no user, the platform's answer must. */
function userOf(tokens: TokenAnswer): string {
  const named = idText.safeParse(tokens.user_id ?? tokens.sub);
  if (named.success) return named.data;
  throw new Rejected("data.user_id: missing, and the token endpoint named no user either");
}

function expiry(tokens: TokenAnswer, now: Date): string | null {
  const seconds = tokens.expires_in;
  const known = typeof seconds === "number" && seconds >= 0 && seconds < 3_155_760_000;
  return known ? new Date(now.getTime() + seconds * 1000).toISOString() : null;
}
