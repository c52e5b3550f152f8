import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommandLine } from "../support/command.ts";
import { describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { startServer } from "../support/process.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

/** The block of the README, in a folder below the project, as it would lie in a user's own. */
function withExample<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(readFileSync("README.md", "utf8")) ?? [];
  const folder = mkdtempSync(join(process.cwd(), "test", "readme-example-"));
  writeFileSync(join(folder, "oncehook.config.ts"), example);
  return use(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}

const STRIPE_SECRET = "whsec_for-this-test-only";

describeFullOnPostgres("the README's handler on %s", (dialect) => {
  it("the README's handler loads from oncehook.config.ts, keeps its table, returns its result and rejects", () =>
    withDatabase(dialect, (target) =>
      withExample(async (folder) => {
        const server = await startServer(target, { STRIPE_SECRET }, folder);
        const send = async (id: string, cents: number) => {
          const data = JSON.stringify({ data: { object: { id: `in_${id}`, amount_paid: cents } } });
          const args = ["send", "--source", "stripe", "invoice.paid", "--id", id, "--data", data];
          const given = { ...CHILD_ENVIRONMENT, STRIPE_SECRET, CALLBACK_BASE_URL: server.url };
          return (await runCommandLine(args, given, folder)).stdout;
        };
        expect(await send("evt_1", 490)).toContain('{"status":"success","data":{"invoice":"in_evt_1"}}');
        expect(await send("evt_1", 490)).toContain('{"status":"already_processed"}');
        expect(await send("evt_2", 0)).toContain('{"status":"accepted"}');
        expect(await countOf(target, "paid")).toBe(1);
        expect(await countOf(target, "oncehook_failures")).toBe(1);
        server.child.kill("SIGTERM");
        expect(await server.ended).toBe(0);
      }),
    ));
});
