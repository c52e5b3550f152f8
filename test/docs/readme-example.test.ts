import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { startServer } from "../support/process.ts";
import { event } from "../support/receiver.ts";

/** The block of the README, in a folder below the project, as it would lie in a user's own. */
function withExample<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(readFileSync("README.md", "utf8")) ?? [];
  const folder = mkdtempSync(join(process.cwd(), "test", "readme-example-"));
  writeFileSync(join(folder, "oncehook.config.ts"), example);
  return use(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}

describeFullOnPostgres("the README's handler on %s", (dialect) => {
  it("the README's handler loads from oncehook.config.ts, keeps its table, returns its result and rejects with 400", () =>
    withDatabase(dialect, (target) =>
      withExample(async (folder) => {
        const server = await startServer(target, {}, folder);
        const parcel = event("parcel_shipped", { parcel_id: "p1", weight_grams: 5 });
        expect(await server.send(parcel)).toEqual({
          status: 200,
          body: { status: "success", data: { parcel_id: "p1" } },
        });
        expect(await server.send(parcel)).toEqual({ status: 200, body: { status: "already_processed" } });
        expect(await server.send(event("parcel_shipped", { parcel_id: "p2", weight_grams: 0 }))).toEqual({
          status: 400,
          body: { error: "weight_grams: must be positive" },
        });
        expect(await countOf(target, "parcels")).toBe(1);
        server.child.kill("SIGTERM");
        expect(await server.ended).toBe(0);
      }),
    ));
});
