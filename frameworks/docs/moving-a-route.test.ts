import { randomBytes } from "node:crypto";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineConfig } from "../../src/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { signedCallback } from "../../src/testing/index.ts";
import { ended, startChild } from "../../test/support/child.ts";
import { runCommandLine } from "../../test/support/command.ts";
import { withDatabase } from "../../test/support/databases.ts";
import { namedBlocks, withFiles } from "../../test/support/doc-blocks.ts";
import { rowsOf } from "../../test/support/effects.ts";
import { execute } from "../../test/support/execute.ts";
import { freePort } from "../../test/support/free-port.ts";
import { listening } from "../../test/support/listening.ts";

const STRIPE_SECRET = "whsec_of-the-moved-route";
const ENCRYPTION_KEY = randomBytes(32).toString("base64");
const blocks = namedBlocks("docs/moving-a-route.md");
const sources = { stripe: stripe({ secret: STRIPE_SECRET, path: "/webhooks/stripe" }) };

function callbackOf(id: string) {
  const data = { data: { object: { id: `in_of_${id}` } } };
  return signedCallback(defineConfig({ sources }), { source: "stripe", type: "invoice.paid", id, data });
}

it("a route moves from docs/moving-a-route.md's old form to its new one, and no event runs twice", () =>
  withDatabase("postgres", async (target) => {
    await execute(target, "CREATE TABLE processed_events (id text PRIMARY KEY, received_at timestamptz DEFAULT now())");
    await execute(target, "CREATE TABLE paid_invoices (id text)");
    const files = ["old", "new"].flatMap((name): [string, string][] => [
      [`${name}-route.ts`, blocks.get(`${name}-route`) ?? ""],
      [`${name}.ts`, `import { app } from "./${name}-route.ts";\napp.listen(Number(process.env.PORT));\n`],
    ]);
    const use = async (folder: string) => {
      mkdirSync(join(folder, "node_modules"));
      symlinkSync(process.cwd(), join(folder, "node_modules", "oncehook"));
      const answersOf = async (name: string, ids: string[]) => {
        const port = await freePort();
        const child = startChild(join(folder, `${name}.ts`), [], {
          PATH: process.env.PATH,
          ...{ STRIPE_SECRET, PORT: String(port), SHOP_DATABASE_URL: target.url },
          ONCEHOOK_ENCRYPTION_KEY: ENCRYPTION_KEY,
        });
        const end = ended(child);
        const origin = `http://127.0.0.1:${port}`;
        await listening(origin);
        const answers: string[] = [];
        for (const id of ids) {
          const { path, ...callback } = callbackOf(id);
          answers.push(await (await fetch(origin + path, callback)).text());
        }
        child.kill("SIGTERM");
        await end;
        return answers;
      };
      expect(await answersOf("old", ["evt_1", "evt_1"])).toEqual(["OK", "OK"]);
      const seen = await rowsOf(target, "SELECT id FROM processed_events");
      const env = {
        SOURCES: "stripe",
        STRIPE_SECRET,
        ENCRYPTION_KEY,
        DATABASE_URL: target.url,
        PATH: process.env.PATH,
      };
      writeFileSync(join(folder, "seen.txt"), seen.map(({ id }) => `${id}\n`).join(""));
      for (const args of [["migrate"], ["import-seen", "stripe", "--file", "seen.txt"]])
        expect(await runCommandLine(args, env, folder)).toMatchObject({ code: 0 });
      const [first, second] = await answersOf("new", ["evt_1", "evt_2"]);
      expect([first, second]).toEqual([
        '{"status":"already_processed"}',
        '{"status":"success","data":{"invoice":"in_of_evt_2"}}',
      ]);
      const paid = await rowsOf(target, "SELECT id FROM paid_invoices ORDER BY id");
      expect(paid).toEqual([{ id: "in_of_evt_1" }, { id: "in_of_evt_2" }]);
    };
    await withFiles(files, use, "frameworks");
  }));
