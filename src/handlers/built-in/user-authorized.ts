import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { JsonObject } from "../../domain/index.ts";
import { ownQueryOf, sqlMigration } from "../../store/index.ts";
import type { Encryptor } from "../../system/index.ts";
import { defineHandler } from "../define-handler.ts";
import type { Handler } from "../handler.ts";
import { idValue, plainText, storableText } from "./text-fields.ts";

/** An authorization code for the token endpoint; `flow` is set where the flow began here. */
export interface CodeGrant {
  readonly code: string;
  readonly flow?: { readonly code_verifier: string; readonly nonce: string; readonly redirect_uri: string };
  /** The event names its user, so that the platform need not be asked. */
  readonly isUserKnown?: boolean;
}

/**
 * Exchanges an authorization code (RFC 6749 §4.1.3).
 * @throws Rejected when the platform refuses the code; another error when it could not be asked
 */
export type ExchangeCode = (grant: CodeGrant) => Promise<TokenResponse>;

const USERS = "CREATE TABLE users (user_id text PRIMARY KEY, updated_at {time} NOT NULL)";

const data = z.object({
  code: storableText,
  user_id: idValue.transform(plainText).optional(),
  parameters: z.record(z.string(), z.string()).default({}),
  flow: z.object({ code_verifier: z.string(), nonce: z.string(), redirect_uri: z.string() }).optional(),
});

/** SPEC 6.3: exchanges the code for an access token and stores the user, the tokens encrypted. */
export function userAuthorized(exchange: ExchangeCode, encryptor: Encryptor): Handler {
  return defineHandler({
    type: "user_authorized",
    data,
    migrations: [sqlMigration("built-in-users", USERS)],
    // An authorization code works once, so its exchange must survive whatever happens to the transaction.
    // `exchange` has its own time limit: one that the handler's limit cut off may have spent the code.
    prepare({ event }) {
      const { code, flow, user_id } = event.data;
      return exchange({ code, ...(flow === undefined ? {} : { flow }), isUserKnown: user_id !== undefined });
    },
    async handle({ event, tx, prepared: tokens, now }) {
      // The code is spent: to keep its tokens they get a random id, which the result names.
      const user_id = event.data.user_id ?? userIdOf(tokens) ?? `usr_${randomBytes(16).toString("hex")}`;
      const updated_at = now.toISOString();
      const kept = { ...tokens, redirect_parameters: event.data.parameters };
      const { encrypted, expiresAt, refreshAt } = encryptTokens(kept, user_id, encryptor, now);
      const row = {
        encrypted_tokens: encrypted,
        expires_at: expiresAt?.toISOString() ?? null,
        refresh_at: refreshAt?.toISOString() ?? null,
        error: null,
        // A refresh under way is of the earlier tokens, and must not replace these.
        lease_owner: null,
        leased_until: null,
        updated_at,
      };
      const user = { user_id, updated_at };
      const stored = { user_id, ...row };
      await tx.query
        .withTables<{ users: typeof user }>()
        .insertInto("users")
        .values(user)
        .onConflict((conflict) => conflict.column("user_id").doUpdateSet({ updated_at }))
        .execute();
      await ownQueryOf(tx)
        .withTables<{ oncehook_user_tokens: typeof stored }>()
        .insertInto("oncehook_user_tokens")
        .values(stored)
        .onConflict((conflict) => conflict.column("user_id").doUpdateSet(row))
        .execute();
      return { user_id };
    },
  });
}

/** The user that the platform names, where it does by an id that can be a key. */
export function userIdOf(tokens: TokenResponse): string | undefined {
  return storableId(tokens.user_id) ?? storableId(tokens.sub);
}

/** Parsing may have changed a number beyond 2^53 to another user's id; 0 is no user's. */
export function storableId(value: unknown): string | undefined {
  if (typeof value === "number" && !(Number.isSafeInteger(value) && value > 0)) return undefined;
  const id = idValue.safeParse(value);
  return id.success ? plainText(id.data) : undefined;
}

/** The response of a token endpoint (RFC 6749 §5.1), with the redirect's parameters beside the code. */
export type TokenResponse = JsonObject & {
  access_token: string;
  redirect_parameters?: Record<string, string>;
};

/** Refreshed this long before they expire, or at half of their life where that is short. */
const REFRESH_AHEAD_MS = 300_000;
/** Bounds how often tokens of a very short lifetime are refreshed. */
const MIN_LIFETIME_MS = 10_000;
const MAX_LIFETIME_SECONDS = 3_155_760_000;

/**
 * Encrypts the response of a token endpoint, with the times of its expiry and refresh.
 * @returns `refreshAt` as null where the tokens cannot be refreshed, or need not be
 */
export function encryptTokens(tokens: TokenResponse, userId: string, encryptor: Encryptor, now: Date) {
  const encrypted = encryptor.encrypt(Buffer.from(JSON.stringify(tokens)), userTokensContext(userId));
  const seconds = tokens.expires_in;
  if (typeof seconds !== "number" || !(seconds >= 0 && seconds < MAX_LIFETIME_SECONDS)) {
    return { encrypted, expiresAt: null, refreshAt: null };
  }
  const lifeMs = seconds * 1000;
  const expiresAt = new Date(now.getTime() + lifeMs);
  const beforeEnd = expiresAt.getTime() - Math.min(REFRESH_AHEAD_MS, lifeMs / 2);
  const refreshAt = new Date(Math.max(beforeEnd, now.getTime() + MIN_LIFETIME_MS));
  return { encrypted, expiresAt, refreshAt: typeof tokens.refresh_token === "string" ? refreshAt : null };
}

export function userTokensContext(userId: string): string {
  return `users ${userId}`;
}
