import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WorkDone } from "../src/embed/receiver.ts";
import { STRIPE_SECRET } from "../test/support/application.ts";
import type { Target } from "../test/support/databases.ts";
import type { BuiltApplication } from "./built-applications.ts";
import { withServer } from "./built-process.ts";
import { type Scene, scenarioOptions } from "./scenarios.ts";

/** Lends the built application in a process of its own, with the receiver of the scenarios on a database. */
export async function withBuiltScene(
  application: BuiltApplication,
  place: string,
  { target, use }: { target: Target; use: (scene: Scene) => Promise<void> },
): Promise<void> {
  const { platform } = application;
  const failing = mkdtempSync(join(tmpdir(), "oncehook-failing-"));
  const { baseUrl, variables } = scenarioOptions(platform);
  const given = Object.entries({ ...variables, DATABASE_URL: target.url, CALLBACK_BASE_URL: baseUrl });
  const env = Object.fromEntries(given.map(([name, value]) => [`ONCEHOOK_${name}`, value]));
  const fileOf = (id: string) => join(failing, id);
  try {
    await withServer(application.start, place, {
      env: { ...env, STRIPE_SECRET, FAILING_EVENTS: failing },
      use({ origin, lines }) {
        const call = async (method: "work" | "flush", options?: object) => {
          const headers = { "content-type": "application/json" };
          const body = JSON.stringify({ method, options });
          return (await fetch(`${origin}/scene`, { method: "POST", headers, body })).json();
        };
        return use({
          ...{ origin, platform, lines, target },
          receiver: { work: (options) => call("work", options) as Promise<WorkDone>, flush: () => call("flush") },
          failing: {
            add: (id) => void writeFileSync(fileOf(id), ""),
            delete: (id) => void rmSync(fileOf(id)),
          },
        });
      },
    });
  } finally {
    rmSync(failing, { recursive: true });
  }
}
