import { describe, expect, it } from "vitest";
import { createMask } from "../../src/observability/index.ts";

const mask = createMask({});

describe("shapes of secrets", () => {
  it.each([
    ["a JWT", "sent eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl now", "sent [masked] now"],
    ["a JWT glued to a word", "key-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.", "key-[masked]"],
    ["a bearer token", "got Bearer abc.def:ghi!", "got Bearer [masked]"],
    ["basic credentials", "basic dXNlcjpwYXNz", "basic [masked]"],
    ["a password in a URL", "postgres://ada:s3cret@db/x", "postgres://ada:[masked]@db/x"],
    ["a card number in a number beside others", "2 x 4111111111111111 12/27", "2 x [masked] 12/27"],
    ["a card number before a full stop", "It is 4111111111111111.", "It is [masked]."],
    ["a card number with a code behind it", "4111 1111 1111 1111 123", "[masked] 123"],
    ["a card number of 19 digits", "6304000000000000000", "[masked]"],
    [
      "an encrypted private key",
      "a -----BEGIN RSA PRIVATE KEY-----\nDEK-Info: AES-128-CBC,00\n\nMIIE\n-----END RSA PRIVATE KEY----- b",
      "a [masked] b",
    ],
    ["a private key that was cut off", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb", "[masked]"],
  ])("%s is masked", (_, text, masked) => {
    expect(mask.json(text)).toBe(masked);
  });

  it.each([
    ["an order number that fails the check digit", "4111111111111112"],
    ["a time in milliseconds that passes the check digit", "1767225600007"],
    ["a UUID that ends in a card number's digits", "a0000000-0000-4000-8411-111111111111"],
    ["a digest with a card number's digits inside", "ab4111111111111111cdefabcdefabcd"],
    ["an amount with eighteen places", "0.411111111111111111"],
    ["a number of more than 19 digits", "41111111111111111111"],
    ["zeros", "0000000000000000"],
    ["telephone numbers", "555-123-4567 555-987-6543"],
  ])("%s is shown", (_, text) => {
    expect(mask.json(text)).toBe(text);
  });

  it("masking masks a card number that is a JSON number, and shows other numbers", () => {
    expect(mask.json([4111111111111111, 1767225600007, 4.5, -3])).toEqual(["[masked]", 1767225600007, 4.5, -3]);
  });

  it("masking masks the longest of secrets that hold each other, and passes over short ones", () => {
    const own = createMask({ secretValues: ["abcdefgh", "abcdefgh-ijkl", "short"] });
    expect(own.json("a short abcdefgh-ijkl")).toBe("a short [masked]");
  });

  it.each([
    ["eyJ", "eyJ"],
    ["eyJ parts", "eyJa."],
    ["digit pairs", "1 "],
    ["digits", "4"],
    ["private key beginnings", "-----BEGIN PRIVATE KEY-----"],
    ["private key words", "PRIVATE KEY "],
    ["schemes", "://a:"],
    ["bearers", "Bearer "],
    ["keys", "code"],
    ["backslashes", "code\\"],
    ["open quotes", 'code="a'],
    ["escapes", 'code="\\'],
    ["equals signs", "token="],
    ["braces", "token={"],
    ["blanks", "a "],
  ])("masking takes linear time over many %s", (_, part) => {
    const text = part.repeat(Math.ceil(262_144 / part.length));
    const before = performance.now();
    mask.text(text);
    mask.json(text);
    mask.url(text);
    // A pattern that looks back over such a text again and again needs far longer.
    expect(performance.now() - before).toBeLessThan(5_000);
  });
});
