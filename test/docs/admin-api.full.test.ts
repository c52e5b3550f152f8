import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { runNode } from "../support/in-project.ts";
import { event, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";

const [, script = ""] = /```ts\n([\s\S]*?)```/.exec(readFileSync("docs/admin-api.md", "utf8")) ?? [];

async function withScript<T>(text: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(process.cwd(), "test", "admin-api-example-"));
  writeFileSync(join(folder, "replay.ts"), text);
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it("the script of docs/admin-api.md replays failures that can succeed and leaves the others", () => {
  const down = new Set(["a", "b"]);
  const handlers = [
    defineHandler({
      type: "unreliable",
      data: z.object({ name: z.string() }),
      handle({ event }) {
        if (down.has(event.data.name)) throw new Error("down");
        return {};
      },
    }),
  ];
  return withReceiver(
    "sqlite",
    async (receiver) => {
      for (const name of down) await receiver.send(event("unreliable", { name }, { event_id: `evt_${name}` }));
      down.delete("a");
      const text = script
        .replace("http://127.0.0.1:8081", receiver.adminOrigin)
        .replace('process.env.ADMIN_TOKEN ?? ""', JSON.stringify(TOKEN));
      expect(text).not.toContain("process.env");
      const { code, output } = await withScript(text, (folder) => runNode(["replay.ts"], folder));
      expect([code, output.trim().split("\n")]).toEqual([0, ["evt_b handler_failed", "evt_a success"]]);
      expect(await receiver.count("oncehook_records", "event_id = 'evt_a'")).toBe(1);
      expect(await receiver.count("oncehook_failures")).toBe(1);
    },
    { handlers, env: { RETRY_MAX: "0" } },
  );
});
