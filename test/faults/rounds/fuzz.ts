import fc from "fast-check";
import { createHmacScheme, platformHmac, signHmac } from "../../../src/sources/index.ts";
import { identify } from "../../support/identify.ts";
import { POSTED } from "../../support/posted.ts";
import { SECRET } from "../../support/secrets.ts";
import { naughtyStrings } from "../hostile/naughty-strings.ts";
import type { Ran, Round } from "./round.ts";

const clock = { now: () => new Date(0) };
const SCHEMES = [null, 300].map((toleranceSeconds) =>
  createHmacScheme(platformHmac(toleranceSeconds), { secrets: [SECRET], clock }),
);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Bytes of every kind: none in particular, JSON, an event, and an event with a piece put in somewhere. */
function bodies(): fc.Arbitrary<Uint8Array> {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...naughtyStrings()));
  const value = fc.oneof(text, fc.double(), fc.bigInt().map(String), fc.constant(null), fc.jsonValue());
  const event = fc.record(
    { event_id: fc.oneof(text, value), event_type: value, timestamp: value, data: value, __proto__: value },
    { requiredKeys: [] },
  );
  const written = fc.oneof(
    event.map((given) => JSON.stringify(given)),
    fc.json(),
    text,
  );
  const broken = fc.tuple(written, fc.nat(), fc.uint8Array({ maxLength: 8 })).map(([whole, at, piece]) => {
    const bytes = Buffer.from(whole);
    const place = at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, place), piece, bytes.subarray(place)]);
  });
  return fc.oneof(
    fc.uint8Array({ maxLength: 512 }),
    written.map((whole) => Buffer.from(whole)),
    broken,
  );
}

/** A signature header's values, few of which look like one. */
const CLAIMS = fc.array(
  fc.oneof(
    fc.string({ unit: "binary" }),
    fc.stringMatching(/^[0-9a-f]{64}$/),
    fc.stringMatching(/^(sha256=)?[0-9A-Fa-f]{60,68}$/),
  ),
  { maxLength: 3 },
);

/** Inputs to the phases that an unauthenticated sender reaches: nothing throws, no forgery passes, no id comes out that cannot be kept. */
export const fuzz: Round = {
  name: "fuzz",
  title: "inputs to verification and identification, made by fast-check",
  full: 1_000_000,
  short: 5_000,
  async run(place): Promise<Ran> {
    let done = 0;
    const property = fc.property(bodies(), CLAIMS, (body, claims) => {
      done += 1;
      verifies(body, claims);
      identifies(body);
    });
    const details = fc.check(property, { numRuns: place.count, seed: place.chance.below(2 ** 31) });
    return {
      count: done,
      audits: [],
      faults: details.failed ? [fc.defaultReportMessage(details) ?? "it failed"] : [],
    };
  },
};

function verifies(body: Uint8Array, claims: readonly string[]): void {
  const right = signHmac(SECRET, body);
  for (const { verify } of SCHEMES) {
    const headers = { "x-signature": claims, "x-timestamp": claims };
    if ("verified" in verify({ ...POSTED, headers, body }) && !(claims.length === 1 && claims[0] === right)) {
      throw new Error(`a forgery was accepted: ${JSON.stringify(claims)}`);
    }
  }
  const result = SCHEMES[0]?.verify({ ...POSTED, headers: { "x-signature": [right] }, body });
  if (result === undefined || !("verified" in result)) throw new Error("the right signature was refused");
}

function identifies(body: Uint8Array): void {
  const found = identify(body);
  if ("kind" in found) return;
  const { eventId } = found;
  if (eventId === "" || Buffer.byteLength(eventId) > 255 || !eventId.isWellFormed() || CONTROL.test(eventId)) {
    throw new Error(`an id that cannot be kept: ${JSON.stringify(eventId)}`);
  }
  const { event_id: own } = JSON.parse(Buffer.from(body).toString("utf8")) as { event_id?: unknown };
  if (own !== eventId) throw new Error("another id than the body's");
  if (Object.keys(Object.prototype).length > 0) throw new Error("every object has a new property");
}
