import type { Finding } from "../../domain/index.ts";
import type { BodyText } from "./body-text.ts";
import type { Claim } from "./claim.ts";
import { conversionsOf, edgesOf, type Original } from "./conversions.ts";
import { type Candidate, hashOf, hmacOf, type Part, USUAL_BYTES } from "./digest.ts";
import type { ReadJson } from "./json-text.ts";
import { otherContents } from "./other-contents.ts";
import { decodings, spellingsOf } from "./secret-spellings.ts";
import type { KnownSecrets, Suspect } from "./suspect.ts";
import { writingsOf } from "./writings.ts";

const NAMES = ["SIGNING_SECRET", "SIGNING_SECRET_PREVIOUS"] as const;
/** Guesses at single numbers are many; they are made in small bodies. */
const MOST_VALUES = 8;
const LONGEST_GUESSED = 8_192;
/** A writing may be twice as long as the body, and an indented one of a short body longer than that. */
const INDENTED = 4_096;

/** Everything that is tried, the likeliest and cheapest first; undefined stands for a pause in the preparations. */
export function* candidatesFor(
  suspect: Suspect,
  secrets: KnownSecrets,
  claims: readonly Claim[],
  bodyText: BodyText,
): Generator<Candidate | undefined> {
  const { text, effort } = bodyText;
  const { accepted, named } = secrets;
  const { body } = suspect;
  for (const key of accepted) yield hmacOf(key, [body], []);
  for (const { name, secret } of named) yield hmacOf(secret, [body], [anotherSecret(name)]);
  for (const { key, finding } of spelled(accepted, spellingsOf)) yield hmacOf(key, [body], [finding]);
  yield* ofOtherContents(suspect, accepted, claims);
  yield* withoutHmac(suspect, accepted);
  // Whatever was changed on the way was signed as it should be, most likely.
  if (!claims.some(({ digest }) => digest.length === USUAL_BYTES)) return;
  for (const key of accepted) {
    for (const [algorithm, says] of RARE) yield hmacOf(key, [body], [{ code: "algorithm", says }], algorithm);
  }
  yield* ofOriginals(edgesOf(text), accepted);
  yield* ofOriginals(conversionsOf(text, body), accepted);
  const read = yield* bodyText.read();
  if (typeof read === "string") return;
  const writings = writingsOf(read, effort, 2 * text.length + INDENTED);
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
  const says = `The signature was made with the secret \`${name}\` of DIAGNOSE_SECRETS_FILE.`;
  return { code: /^previous/i.test(name) ? "previous_secret" : "other_environment", says };
}

function* spelled(
  accepted: readonly string[],
  of: typeof spellingsOf,
): Generator<{ readonly key: Part; readonly finding: Finding }> {
  for (const [index, secret] of accepted.entries()) {
    const name = NAMES[index] ?? NAMES[1];
    for (const { key, how } of of(secret))
      yield {
        key,
        finding: { code: "secret_spelling", says: `The signature was made with ${name} ${how}.` },
      };
  }
}

function* ofOtherContents(
  suspect: Suspect,
  accepted: readonly string[],
  claims: readonly Claim[],
): Generator<Candidate> {
  const keys = [
    ...accepted.map((key) => ({ key: key as Part, findings: [] as Finding[] })),
    ...[...spelled(accepted, decodings)].map(({ key, finding }) => ({ key, findings: [finding] })),
  ];
  for (const { parts, what } of otherContents(suspect, claims)) {
    const covers: Finding = { code: "other_content", says: `The signature covers ${what}.` };
    for (const { key, findings } of keys) yield hmacOf(key, parts, [...findings, covers]);
  }
}

function* withoutHmac({ body, method, url }: Suspect, accepted: readonly string[]): Generator<Candidate> {
  const plain = (of: string): Finding[] => [
    { code: "not_hmac", says: `The signature is the plain hash of ${of}.` },
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
): Generator<Candidate | undefined> {
  for (const original of originals) {
    if (original === undefined) {
      yield;
      continue;
    }
    const { code, bytes, says } = original;
    for (const key of accepted) yield hmacOf(key, [bytes], [{ code, says }]);
  }
}

function* otherWritings(writings: ReturnType<typeof writingsOf>): Generator<Original | undefined> {
  for (const writing of writings) {
    const says = `The signature fits the body when it is written ${writing?.how}.`;
    yield writing && { code: "reserialised", bytes: writing.text, says };
  }
}

/** A value of the top, signed alone: the `data` of an envelope, say. */
function* partsOf({ values }: ReadJson, text: string): Generator<Original> {
  const says = "The signature covers one of the objects in the body, and not the body.";
  for (const [begin, end] of values.slice(0, MOST_VALUES)) {
    yield { code: "other_content", bytes: text.slice(begin, end), says };
  }
}

/** What read `1.0` and wrote `1` anew leaves nothing of it: one number after the other is tried with decimals. */
function* withDecimals({ places }: ReadJson, text: string): Generator<Original> {
  const says =
    "The signature fits the body when one of its numbers is written with more decimals (10.00 for 10).";
  for (const [begin, end] of places) {
    const raw = text.slice(begin, end);
    if (/[eE]/.test(raw)) continue;
    for (const more of raw.includes(".") ? ["0", "00"] : [".0", ".00"]) {
      yield { code: "reserialised", bytes: text.slice(0, end) + more + text.slice(end), says };
    }
  }
}
