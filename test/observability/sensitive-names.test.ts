import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMask } from "../../src/observability/index.ts";

const mask = createMask({});
const SECRET = "s3cr3t-value-77";

const upperFirst = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
const CASINGS: Record<string, (words: readonly string[]) => string> = {
  snake: (words) => words.join("_"),
  kebab: (words) => words.join("-"),
  camel: ([first = "", ...rest]) => first + rest.map(upperFirst).join(""),
  Pascal: (words) => words.map(upperFirst).join(""),
};
const casing = fc.constantFrom(...Object.values(CASINGS));

/** Words that stand beside others in the names of platforms. */
const neutral = fc.constantFrom(
  "user",
  "client",
  "app",
  "merchant",
  "platform",
  "aws",
  "new",
  "old",
  "my",
  "x",
  "service",
);
const secretWords = fc.constantFrom(
  ["password"],
  ["passphrase"],
  ["secret"],
  ["token"],
  ["token", "value"],
  ["credentials"],
  ["authorization"],
  ["authorization", "code"],
  ["auth", "code"],
  ["auth", "token"],
  ["verification", "code"],
  ["code", "verifier"],
  ["secret", "key"],
  ["access", "key"],
  ["secret", "access", "key"],
  ["api", "key"],
  ["private", "key"],
  ["signing", "key"],
  ["encryption", "key"],
  ["session", "key"],
  ["session", "id"],
  ["session", "token"],
  ["cookie"],
  ["jwt"],
  ["otp"],
  ["pin"],
  ["cvv"],
  ["card", "number"],
  ["account", "number"],
  ["iban"],
  ["signature"],
);
const shownWords = fc.constantFrom(
  ["order", "id"],
  ["event", "id"],
  ["key"],
  ["key", "id"],
  ["amount"],
  ["status", "code"],
  ["error", "code"],
  ["country", "code"],
  ["currency", "code"],
  ["postal", "code"],
  ["idempotency", "key"],
  ["public", "key"],
  ["payment", "key"],
  ["partition", "key"],
  ["token", "type"],
  ["expires", "in"],
  ["token", "expires", "at"],
  ["password", "updated", "at"],
  ["session", "count"],
  ["max", "tokens"],
  ["auth", "method"],
  ["authorization", "amount"],
  ["card", "brand"],
  ["card", "last4"],
  ["keyboard"],
  ["monkey"],
  ["author"],
  ["passenger", "name"],
  ["shipping", "state"],
  ["company"],
  ["opinion"],
  ["return", "url"],
  ["confirmation", "url"],
  ["payment", "link"],
  ["query", "string"],
  ["track", "id"],
  ["tracking", "number"],
  ["phrase"],
);

const shownUnder = (name: string): string => JSON.stringify(mask.json({ [name]: SECRET }));

describe("names of secrets", () => {
  it.each([
    "authorization_code",
    "auth_code",
    "code_verifier",
    "secret_key",
    "secretKey",
    "access_key",
    "aws_secret_access_key",
    "session_id",
    "session_key",
    "signing_key",
    "encryption_key",
    "token_value",
    "pw",
    "user_pw",
    "dsn",
    "connection_string",
    "connectionString",
    "database_url",
    "DATABASE_URL",
    "redisUrl",
    "kubeconfig",
    "sas",
    "mnemonic",
    "seed_phrase",
    "recoveryPhrase",
    "magic_link",
    "track2",
    "track2Data",
  ])("%s is masked as a key, a parameter and in a text", (name) => {
    const shown = [shownUnder(name), mask.url(`/?${name}=${SECRET}`), mask.text(`${name}: ${SECRET}`)];
    shown.push(mask.body(Buffer.from(`a=1&${name}=${SECRET}`)));
    expect(shown.join()).not.toContain(SECRET);
  });

  it.each([
    "x-access-key",
    "x-session-id",
    "X-Secret-Key",
    "x-signing-key",
    "X-Client-Cert",
    "x-forwarded-client-cert",
  ])("the header %s is masked", (name) => {
    expect(mask.headers({ [name]: SECRET })).toEqual({ [name]: "[masked]" });
  });

  it.each(["idempotency-key", "x-request-id", "content-type", "host", "x-event-type"])(
    "the header %s is shown",
    (name) => {
      expect(mask.headers({ [name]: "value" })).toEqual({ [name]: "value" });
    },
  );

  it("secret names are masked in snake, kebab, camel and Pascal case, with other words before them", () => {
    fc.assert(
      fc.property(fc.array(neutral, { maxLength: 2 }), secretWords, casing, (before, words, spell) => {
        expect(shownUnder(spell([...before, ...words]))).not.toContain(SECRET);
      }),
      { numRuns: 500 },
    );
  });

  it("secret names are masked where their words run together in one case", () => {
    fc.assert(
      fc.property(secretWords, fc.boolean(), (words, isUpper) => {
        const name = words.join("");
        expect(shownUnder(isUpper ? name.toUpperCase() : name)).not.toContain(SECRET);
      }),
    );
  });

  it("payment words that operators need are not masked, in any case", () => {
    fc.assert(
      fc.property(shownWords, casing, (words, spell) => {
        expect(shownUnder(spell(words))).toContain(SECRET);
      }),
      { numRuns: 500 },
    );
  });

  it("a stack's lines are not masked", () => {
    const line = "    at run (file:///app/src/session/token.ts:12:34)";
    expect(mask.text(line)).toBe(line);
  });
});
