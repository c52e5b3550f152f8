import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { SignedRequest, SourceDefinition } from "../../src/sources/index.ts";
import { requestOf } from "./contract.ts";
import { openPreset, PRESET_NOW, verifiedEvents } from "./preset.ts";

/** Valid base64 too, for the platforms that decode it. */
export const SECRET = "c2VjcmV0IG9mIHRoZSBkb2N1bWVudGF0aW9u";
export const SECONDS = String(PRESET_NOW.getTime() / 1000);

export function hmac(
  text: string,
  encoding: "hex" | "base64" = "hex",
  { algorithm = "sha256", key = SECRET as string | Buffer } = {},
): string {
  return createHmac(algorithm, key).update(text).digest(encoding);
}

/** A platform that has no SDK to prove its preset with. */
export interface Documented {
  readonly preset: SourceDefinition;
  readonly body: object;
  /** The headers that the documentation's sample code computes. */
  readonly headers: (body: string) => Record<string, string>;
  /** Without a hash at the id's end. */
  readonly events: readonly (readonly [id: string, type: string])[];
}

function requestFrom({ body, headers }: Documented): SignedRequest {
  const text = JSON.stringify(body);
  return requestOf(text, { headers: headers(text) });
}

export function describeDocumented(samples: Readonly<Record<string, Documented>>): void {
  describe.each(Object.entries(samples))("a callback of %s", (_title, documented) => {
    it("a callback that is signed like the documentation's sample is read into its events", async () => {
      const events = await verifiedEvents(documented.preset, requestFrom(documented));
      const found = events.map((event) => [event.eventId.replace(/[0-9a-f]{64}$/, ""), event.typeOf()]);
      expect(found).toEqual(documented.events);
    });

    it("a callback with another body is refused", async () => {
      const request = requestFrom(documented);
      const body = Buffer.from(request.body);
      body[2] = (body[2] as number) ^ 1;
      const { scheme } = openPreset(documented.preset);
      expect(await scheme.verify({ ...request, body })).toMatchObject({ code: "signature_mismatch" });
    });

    it("a callback without a signature is refused", async () => {
      const { scheme } = openPreset(documented.preset);
      const request = { ...requestFrom(documented), headers: {} };
      expect(await scheme.verify(request)).toMatchObject({ code: "signature_missing" });
    });
  });
}
