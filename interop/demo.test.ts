import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { runPlatformDemo } from "./platform-demo.ts";
import type { PlatformProof } from "./platform-proof.ts";
import { PROOFS } from "./proofs/index.ts";

const TIME_LIMIT_MS = 60_000;
const proof = PROOFS.find(
  ({ signsBody, start, toleranceSeconds }) => signsBody !== false && !start && toleranceSeconds === null,
) as PlatformProof;

/** The columns of a proof that are wrong, and what was expected. */
const mistakesOf = async (wrong: PlatformProof) => {
  const [row] = await runPlatformDemo([wrong]);
  return Object.entries(row?.checks ?? {}).flatMap(([column, { expected }]) =>
    expected === undefined ? [] : [[column, expected]],
  );
};

describe("npm run demo:platforms", () => {
  it(
    "ends with 0 and a row for each proof, within a minute",
    async () => {
      const args = ["--conditions=oncehook-source", "interop/demo.ts"];
      const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: TIME_LIMIT_MS });
      expect(stdout.split("\n").filter((line) => line.endsWith("  ok"))).toHaveLength(PROOFS.length);
      expect(stdout).toContain(`All ${PROOFS.length} platforms are right`);
    },
    TIME_LIMIT_MS,
  );

  it("installs no SDK where all are installed", async () => {
    const withoutNpm = { env: { PATH: "" }, timeout: TIME_LIMIT_MS };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["scripts/install-folder.ts", "interop"],
      withoutNpm,
    );
    expect(stdout).toBe("");
  });

  it("a callback that the source refuses is wrong, and has no effect", async () => {
    const forged: PlatformProof = { ...proof, callback: () => ({ headers: {}, body: Buffer.from("{}") }) };
    const columns = (await mistakesOf(forged)).map(([column]) => column);
    expect(columns).toEqual(["valid", "duplicate", "effects"]);
  });

  it("a handshake with another response than expected is wrong", async () => {
    const request = () => ({ method: "GET" as const, headers: {}, body: Buffer.of() });
    const asked = { title: "is it you", request, response: { status: 299 } };
    expect(await mistakesOf({ ...proof, handshakes: [asked] })).toEqual([
      ["handshakes", "is it you: the status 299, got 405"],
    ]);
  });

  it("a flipped bit that the source accepts is wrong", async () => {
    const source: PlatformProof["source"] = async (secrets) => {
      const definition = await proof.source(secrets);
      return {
        ...definition,
        createScheme: () => ({
          challenge: "none",
          verify: () => ({ verified: [{ method: "hmac", index: 0 }] }),
        }),
      };
    };
    expect(await mistakesOf({ ...proof, source })).toContainEqual(["flipped bit", "401"]);
  });
});
