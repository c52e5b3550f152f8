import type { Finding } from "../../domain/index.ts";
import type { ClaimedDigest } from "./claimed-digest.ts";
import { conversionsOf, edgesOf, type Original } from "./conversions.ts";
import { type DigestCandidate, hashOf, hmacOf, type Part, SHA256_BYTES } from "./digest.ts";
import type { BodyText, ReadJson } from "./json-text.ts";
import { otherContents } from "./other-contents.ts";
import { decodings, secretVariants } from "./secret-variants.ts";
import { serializationsOf } from "./serializations.ts";
import type { KnownSecrets, Suspect } from "./suspect.ts";

const NAMES = ["SIGNING_SECRET", "SIGNING_SECRET_PREVIOUS"] as const;
/** Guesses at single numbers are many; they are made in small bodies. */
const MAX_VALUES = 8;
const LONGEST_GUESSED = 8_192;
/** A writing may be twice as long as the body, and an indented one of a short body longer than that. */
const INDENTED = 4_096;

/** Everything that is tried, the likeliest and cheapest first; undefined stands for a pause in the preparations. */
export function* candidatesFor(
  suspect: Suspect,
  secrets: KnownSecrets,
  claims: readonly ClaimedDigest[],
  bodyText: BodyText,
): Generator<DigestCandidate | undefined> {
  const { text, effort } = bodyText;
  const { accepted, named } = secrets;
  const { body } = suspect;
  for (const key of accepted) yield hmacOf(key, [body], []);
  for (const { name, secret } of named) yield hmacOf(secret, [body], [anotherSecret(name)]);
  for (const { key, finding } of spelled(accepted, secretVariants)) yield hmacOf(key, [body], [finding]);
  yield* ofOtherContents(suspect, accepted, claims);
  yield* withoutHmac(suspect, accepted);
  // Whatever was changed on the way was signed as it should be, most likely.
  if (!claims.some(({ digest }) => digest.length === SHA256_BYTES)) return;
  for (const key of accepted) {
    for (const [algorithm, message] of RARE)
      yield hmacOf(key, [body], [{ code: "algorithm", message }], algorithm);
  }
  yield* ofOriginals(edgesOf(text), accepted);
  yield* ofOriginals(conversionsOf(text, body), accepted);
  const read = yield* bodyText.read();
  if (typeof read === "string") return;
  const writings = serializationsOf(read, effort, 2 * text.length + INDENTED);
  yield* ofOriginals(otherWritings(writings), accepted);
  yield* ofOriginals(partsOf(read, text), accepted);
  if (text.length <= LONGEST_GUESSED) yield* ofOriginals(withDecimals(read, text), accepted);
}

/** As long as HMAC-SHA256. */
const RARE = [
  ["sha3-256", "The signature was made with HMAC-SHA3-256."],
  ["sha512-256", "The signature was made with HMAC-SHA512/256."],
] as const;

function anotherSecret(name: string): Finding {
  const message = `The signature was made with the secret \`${name}\` of DIAGNOSE_SECRETS_FILE.`;
  return { code: /^previous/i.test(name) ? "previous_secret" : "other_environment", message };
}

function* spelled(
  accepted: readonly string[],
  of: typeof secretVariants,
): Generator<{ readonly key: Part; readonly finding: Finding }> {
  for (const [index, secret] of accepted.entries()) {
    const name = NAMES[index] ?? NAMES[1];
    for (const { key, how } of of(secret))
      yield {
        key,
        finding: { code: "secret_spelling", message: `The signature was made with ${name} ${how}.` },
      };
  }
}

function* ofOtherContents(
  suspect: Suspect,
  accepted: readonly string[],
  claims: readonly ClaimedDigest[],
): Generator<DigestCandidate> {
  const keys = [
    ...accepted.map((key) => ({ key: key as Part, findings: [] as Finding[] })),
    ...[...spelled(accepted, decodings)].map(({ key, finding }) => ({ key, findings: [finding] })),
  ];
  for (const { parts, what } of otherContents(suspect, claims)) {
    const covers: Finding = { code: "other_content", message: `The signature covers ${what}.` };
    for (const { key, findings } of keys) yield hmacOf(key, parts, [...findings, covers]);
  }
}

function* withoutHmac(
  { body, method, url }: Suspect,
  accepted: readonly string[],
): Generator<DigestCandidate> {
  const plain = (of: string): Finding[] => [
    { code: "not_hmac", message: `The signature is the plain hash of ${of}.` },
  ];
  yield hashOf([body], plain("the body, which anybody can make"), false);
  for (const secret of accepted) {
    yield hashOf([secret, body], plain("the secret and the body behind it"), true);
    yield hashOf([body, secret], plain("the body and the secret behind it"), true);
    const hubSpot = "secret, method, address and body, as HubSpot's older versions make it";
    yield hashOf([secret, method, url, body], plain(hubSpot), true);
  }
}

function* ofOriginals(
  originals: Iterable<Original | undefined>,
  accepted: readonly string[],
): Generator<DigestCandidate | undefined> {
  for (const original of originals) {
    if (original === undefined) {
      yield;
      continue;
    }
    const { code, bytes, message } = original;
    for (const key of accepted) yield hmacOf(key, [bytes], [{ code, message }]);
  }
}

function* otherWritings(writings: ReturnType<typeof serializationsOf>): Generator<Original | undefined> {
  for (const writing of writings) {
    const message = `The signature fits the body when it is written ${writing?.how}.`;
    yield writing && { code: "reserialised", bytes: writing.text, message };
  }
}

/** A value of the top, signed alone: the `data` of an envelope, say. */
function* partsOf({ values }: ReadJson, text: string): Generator<Original> {
  const message = "The signature covers one of the objects in the body, and not the body.";
  for (const [begin, end] of values.slice(0, MAX_VALUES)) {
    yield { code: "other_content", bytes: text.slice(begin, end), message };
  }
}

/** What read `1.0` and wrote `1` anew leaves nothing of it: one number after the other is tried with decimals. */
function* withDecimals({ places }: ReadJson, text: string): Generator<Original> {
  const message =
    "The signature fits the body when one of its numbers is written with more decimals (10.00 for 10).";
  for (const [begin, end] of places) {
    const raw = text.slice(begin, end);
    if (/[eE]/.test(raw)) continue;
    for (const more of raw.includes(".") ? ["0", "00"] : [".0", ".00"]) {
      yield { code: "reserialised", bytes: text.slice(0, end) + more + text.slice(end), message };
    }
  }
}
