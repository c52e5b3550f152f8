import fc from "fast-check";
import type { JsonValue } from "../../src/domain/index.ts";

/** Stands where a secret would; nothing else in the tests contains it. */
export const CANARY = "kanarienvogel-5150";

/** Spellings of keys whose values must never show. */
export const secretKey = fc.constantFrom(
  "code",
  "state",
  "pin",
  "cvv",
  "CVC",
  "pan",
  "ssn",
  "iban",
  "otp",
  "Authorization",
  "Set-Cookie",
  "signature",
  "cardNumber",
  "CARD-NUMBER",
  "account_number",
  "accessToken",
  "access_token",
  "refresh.token",
  "client secret",
  "new_password",
  "passwd",
  "passphrase",
  "X-API-Key",
  "privateKey",
  "credential",
  "credentials",
);

const plainKey = fc.constantFrom("id", "data", "items", "error_code", "country_code", "note", "__proto__", "0");
const leaf: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue[]>(CANARY, `before ${CANARY} after`, [CANARY], {
  value: CANARY,
  [CANARY]: 1,
});

/** JSON that holds the canary under a sensitive key, somewhere between ordinary values. */
export const jsonWithCanary: fc.Arbitrary<JsonValue> = fc
  .tuple(
    secretKey,
    leaf,
    fc.array(fc.oneof(plainKey, fc.constant("[]"), fc.constant("text")), { maxLength: 12 }),
    fc.jsonValue({ maxDepth: 2 }),
  )
  .map(([key, secret, path, other]) => path.reduce(nest(other as JsonValue), entries([[key, secret]])));

/** JSON without keys or shapes that are masked. */
export const harmlessJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.stringMatching(/^[a-zäöü ,;()!?'"\\/-]{0,30}$/),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(fc.oneof(plainKey, fc.stringMatching(/^[a-d_]{1,8}$/)), tie("value"))).map(entries),
  ),
})).value;

/** Text put together from what masking looks for, whole and in pieces. */
export const trickyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "eyJhbGciOi.eyJzdWIi.c2ln",
        "eyJ",
        ".",
        "Bearer ",
        "Basic dXNlcjpwYXNz",
        "4111 1111 1111 1111",
        "4111111111111111",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "https://user:pass@host/",
        "token=",
        '"password":"',
        "code: ",
        "Cookie: a=b; c",
        "[masked]",
        '{"state":',
        '\\"',
        "\n",
        "&",
        "?",
        "%",
        "-",
        "0",
      ),
      fc.string({ maxLength: 6 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

function nest(other: JsonValue): (inner: JsonValue, step: string) => JsonValue {
  return (inner, step) => {
    if (step === "[]") return [other, inner];
    if (step === "text") return { text: JSON.stringify(inner) };
    return entries([
      ["other", other],
      [step, inner],
    ]);
  };
}

/** Unlike an assignment this makes `__proto__` a key. */
function entries(pairs: [string, JsonValue][]): JsonValue {
  return Object.fromEntries(pairs);
}
