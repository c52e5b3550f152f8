import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createPublicKeyScheme, type PublicKeyData } from "../../../src/sources/schemes/public-key.ts";
import { systemClock } from "../../../src/system/index.ts";
import { POSTED } from "../../support/posted.ts";

interface Group {
  readonly key: string;
  readonly tests: readonly { tcId: number; comment: string; msg: string; sig: string; result: string }[];
}

/** One RSA case is `acceptable` in the corpus: a DigestInfo without its NULL, which is refused here. */
describe("Project Wycheproof", () => {
  it.each([
    ["ed25519", "ed25519", undefined, 151],
    ["ecdsa-p1363", "ecdsa-p256-sha256", "p1363", 262],
    ["rsa-sha256", "rsa-sha256", undefined, 259],
    ["rsa-pss-sha256", "rsa-pss-sha256", undefined, 108],
  ] as const)("every case of %s has the result that Wycheproof gives", (file, algorithm, format, count) => {
    const groups: Group[] = JSON.parse(readFileSync(`test/vectors/wycheproof-${file}.json`, "utf8"));
    const signature: PublicKeyData["signature"] = {
      header: "X-Own",
      encoding: "hex",
      ...(format && { format }),
    };
    const wrong: string[] = [];
    for (const { key, tests } of groups) {
      const data = { algorithm, signature, signed: "{body}" };
      const scheme = createPublicKeyScheme(data, { keys: [key], clock: systemClock });
      for (const { tcId, comment, msg, sig, result } of tests) {
        const request = { ...POSTED, body: Buffer.from(msg, "hex"), headers: { "x-own": [sig] } };
        if ("verified" in scheme.verify(request) !== (result === "valid")) wrong.push(`${tcId} ${comment}: ${result}`);
      }
    }
    const cases = groups.flatMap(({ tests }) => tests).length;
    process.stdout.write(`Wycheproof ${file}: ${cases} cases, ${wrong.length} disagree\n`);
    expect(wrong).toEqual([]);
    expect(cases).toBe(count);
  });
});
