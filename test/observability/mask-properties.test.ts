import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/domain/index.ts";
import { createMask } from "../../src/observability/index.ts";
import { CANARY, harmlessJson, jsonWithCanary, secretKey, trickyText } from "./canary.ts";

const mask = createMask({ secretValues: ["signing-secret-of-this-service"] });
const path = fc.stringMatching(/^(\/[a-z0-9%._~-]{0,8}){0,4}$/);
const separator = fc.constantFrom("?", "&", ";", "#", "?a=1&", "?a=1#b&");

describe("masking, whatever comes", () => {
  it("masking never shows what stands under a sensitive key of a JSON value", () => {
    fc.assert(
      fc.property(jsonWithCanary, (value) => {
        expect(JSON.stringify(mask.json(value))).not.toContain(CANARY);
      }),
    );
  });

  it("masking never shows what stands under a sensitive key of a JSON body", () => {
    fc.assert(
      fc.property(jsonWithCanary, (value) => {
        expect(mask.body(Buffer.from(JSON.stringify(value)))).not.toContain(CANARY);
      }),
    );
  });

  it("masking never shows a sensitive parameter of a form body, however its name is escaped", () => {
    fc.assert(
      fc.property(secretKey, fc.boolean(), (key, nested) => {
        const name = encodeURIComponent(nested ? `data[${key}]` : key);
        expect(mask.body(Buffer.from(`a=1&${name}=${CANARY}&b=2`))).not.toContain(CANARY);
      }),
    );
  });

  it("masking never shows a sensitive parameter of a URL, whatever stands around it", () => {
    fc.assert(
      fc.property(path, separator, secretKey, fc.string(), (start, before, key, after) => {
        const url = `${start}${before}${encodeURIComponent(key)}=${CANARY}&x=${after}`;
        expect(mask.url(url)).not.toContain(CANARY);
      }),
    );
  });

  it("masking never shows a sensitive pair of a text, whatever stands around it", () => {
    const pair = fc.constantFrom(
      `access_token=${CANARY}`,
      `"password":"${CANARY}"`,
      `{\\"secret\\":\\"${CANARY}\\"}`,
      `{ code: '${CANARY}' }`,
      `Cookie: sid=1; other=${CANARY}`,
      `"credentials":{"id":1,"value":"${CANARY}"}`,
      `?code=${CANARY}&x=1`,
    );
    const around = fc.stringMatching(/^[a-z0-9 :.,()\n-]{0,40}$/);
    fc.assert(
      fc.property(around, pair, around, (before, secret, after) => {
        expect(mask.text(`${before} ${secret} ${after}`)).not.toContain(CANARY);
      }),
    );
  });

  it("masking never shows the value of a sensitive header", () => {
    const name = fc.constantFrom(
      "authorization",
      "Proxy-Authorization",
      "cookie",
      "set-cookie",
      "x-signature",
      "X-API-Key",
      "x-csrf-token",
      "x-hub-signature-256",
      "client-secret",
      "x-my-auth-thing",
      "x-password",
    );
    fc.assert(
      fc.property(name, fc.boolean(), (header, repeated) => {
        const shown = mask.headers({ [header]: repeated ? ["a", CANARY] : CANARY, host: "example.org" });
        expect(shown).toEqual({ [header]: "[masked]", host: "example.org" });
      }),
    );
  });

  it("masking leaves JSON that holds nothing sensitive as it is", () => {
    fc.assert(
      fc.property(harmlessJson, (value) => {
        expect(JSON.stringify(mask.json(value))).toBe(JSON.stringify(value));
      }),
    );
  });

  it("masking changes nothing more when a JSON value is masked again", () => {
    fc.assert(
      fc.property(fc.oneof(jsonWithCanary, fc.jsonValue() as fc.Arbitrary<JsonValue>), (value) => {
        const once = mask.json(value);
        expect(mask.json(once)).toEqual(once);
      }),
    );
  });

  it("masking changes nothing more when a text, a URL or a header is masked again", () => {
    fc.assert(
      fc.property(trickyText, (text) => {
        const header = mask.headers({ "user-agent": text });
        expect(mask.headers(header)).toEqual(header);
        expect(mask.text(mask.text(text))).toBe(mask.text(text));
        expect(mask.url(mask.url(text))).toBe(mask.url(text));
        // A text that begins like JSON and is none may lose another character of what stands behind a secret.
        if (!/^\s*[[{]/.test(text)) expect(mask.json(mask.json([text]))).toEqual(mask.json([text]));
      }),
      { numRuns: 1_000 },
    );
  });

  it("masking takes any bytes for a body", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          trickyText.map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          expect(typeof mask.body(bytes)).toBe("string");
        },
      ),
    );
  });

  it("masking masks a card number in groups of any spelling, and the service's own secrets, inside any sentence", () => {
    const secret = fc.constantFrom(
      "4111111111111111",
      "4111-1111-1111-1111",
      "5555 5555 5555 4444",
      "3782 822463 10005",
      "signing-secret-of-this-service",
    );
    const around = fc.stringMatching(/^[a-z ,.!?:-]{0,20}$/);
    fc.assert(
      fc.property(around, secret, around, (before, shape, after) => {
        expect(mask.json(`${before}${shape}${after}`)).toBe(`${before}[masked]${after}`);
      }),
    );
  });

  it("masking never shows a part of a secret that the cut of a long body, text or URL goes through", () => {
    const [digits, word] = ["4111111111111111", "kanarienvogel5150kanarienvogel5150"];
    const jwt = `eyJ${word.repeat(100)}.eyJ${word}.${word}`;
    const secret = fc.constantFrom(
      digits,
      "4111 1111 1111 1111",
      jwt,
      `Bearer ${word}`,
      `https://ada:${word.repeat(80)}@example.org/`,
      `-----BEGIN PRIVATE KEY-----\n${word.repeat(60)}\n-----END PRIVATE KEY-----`,
      `"token":"${word.repeat(90)}"`,
      `"credentials":{"id":1,"value":"${word}"}`,
      `"Message":"{\\"secret\\":\\"${word}\\"}"`,
      "signing-secret-of-this-service",
    );
    // Before the cut of what is shown, and before that of what is read.
    const cut = fc.constantFrom(1_024, 2_048, 4_096, 16_384, 18_432);
    const parts = [digits.slice(0, 8), "4111 1111", word.slice(0, 12), "signing-secret"];
    fc.assert(
      fc.property(secret, cut, fc.nat(60), fc.constantFrom("a, ", "a&b=", '"a":1,'), (shape, at, back, filler) => {
        const before = filler.repeat((at - back) / filler.length);
        const text = `${before}${" ".repeat(1 + (back % 7))}${shape} ${filler.repeat(8_000)}`;
        const more = '{"a":1},'.repeat(10_000);
        const json = shape.startsWith('"')
          ? `[${'{"a":1},'.repeat((at - back) / 8)}${" ".repeat(back % 8)}{${shape}},${more}1]`
          : JSON.stringify([`${before}${shape}`, text]);
        const shown = [
          mask.body(Buffer.from(`{${text}`)),
          mask.body(Buffer.from(json), { isJson: true }),
          mask.body(
            Buffer.from(`${"a=1&".repeat((at - back) / 4)}b=${encodeURIComponent(shape)}&${"c=1&".repeat(9_000)}`),
          ),
          mask.text(text),
          mask.url(`/?${text}`),
          JSON.stringify(mask.headers({ referer: text })),
        ];
        for (const part of parts) for (const one of shown) expect(one).not.toContain(part);
      }),
      { numRuns: 80 },
    );
  });
});
