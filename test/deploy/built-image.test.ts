import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { signHmac } from "../../src/index.ts";
import { PRODUCTION } from "../support/configuration.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";
import { type BuiltImage, withBuiltImage } from "./built-image.ts";
import { command, healthCheck } from "./dockerfile.ts";

const MINUTES = 60_000;
/** Half of it is OpenTelemetry. */
const MOST_BYTES = 45_000_000;

const HANDLER = `
import { defineConfig, defineHandler } from "oncehook";
import { z } from "zod";
const shipped = defineHandler({
  type: "parcel_shipped",
  data: z.object({ parcel_id: z.string() }),
  async handle({ event }) { return { parcel_id: event.data.parcel_id }; },
});
export default defineConfig({ handlers: [shipped] });
`;

function begin({ env, workdir, user }: BuiltImage, words: readonly string[], more: Record<string, string>) {
  const [program = "", ...args] = words;
  return spawn(program, args, { cwd: workdir, env: { ...env, ...more }, stdio: "pipe", ...user });
}

function isHealthy(
  { env, workdir, user, stage }: BuiltImage,
  more: Record<string, string>,
): Promise<boolean> {
  const [program = "", ...args] = healthCheck(stage);
  return new Promise((resolve) => {
    execFile(program, args, { cwd: workdir, env: { ...env, ...more }, ...user }, (error) =>
      resolve(error === null),
    );
  });
}

async function deliver(port: number): Promise<unknown> {
  const body = JSON.stringify({
    event_id: "evt-1",
    event_type: "parcel_shipped",
    timestamp: 1_767_225_600,
    data: { parcel_id: "p1" },
  });
  const answer = await fetch(`http://127.0.0.1:${port}/hooks/api/platform/callback`, {
    method: "POST",
    body,
    headers: {
      "x-signature": signHmac(PRODUCTION.SIGNING_SECRET, Buffer.from(body)),
      "x-forwarded-proto": "https",
    },
  });
  return answer.json();
}

describe("what deploy/Dockerfile builds", () => {
  it(
    "serves as its user, who may write nothing but /data, is healthy then and not before, and drains on SIGTERM",
    () =>
      withBuiltImage(async (image) => {
        await writeFile(join(image.workdir, "oncehook.config.ts"), HANDLER);
        const [port, adminPort] = [await freePort(), await freePort()];
        const env = {
          ...PRODUCTION,
          TRUST_PROXY: "127.0.0.1",
          PORT: String(port),
          ADMIN_PORT: String(adminPort),
        };
        expect(await isHealthy(image, env)).toBe(false);
        const child = begin(image, command(image.stage), env);
        const words: string[] = [];
        for (const stream of [child.stdout, child.stderr])
          stream.on("data", (chunk) => words.push(String(chunk)));
        try {
          await until(async () => {
            if (hasEnded(child)) throw new Error(`it ended with ${child.exitCode}: ${words.join("")}`);
            return isHealthy(image, env);
          }, MINUTES);
          expect(await deliver(port)).toEqual({ status: "success", data: { parcel_id: "p1" } });
          const files = globSync(join(image.root, "data/*")).map((path) => [path, statSync(path).uid]);
          expect(files.length).toBeGreaterThan(0);
          expect(files.filter(([, uid]) => uid !== (image.user.uid ?? process.getuid?.()))).toEqual([]);
          const ended = once(child, "exit");
          child.kill("SIGTERM");
          expect(await ended).toEqual([0, null]);
        } finally {
          child.kill("SIGKILL");
        }
        const added = globSync(["node_modules/**/*", "dist/**/*"], { cwd: image.workdir })
          .map((path) => statSync(join(image.workdir, path)))
          .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
        expect(added).toBeLessThan(MOST_BYTES);
        expect(globSync("node_modules/{typescript,vitest}", { cwd: image.workdir })).toEqual([]);
      }),
    15 * MINUTES,
  );
});

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;
