import { spawn } from "node:child_process";
import { once as onceEmitted } from "node:events";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { once } from "../../src/once/index.ts";
import { withMigrated } from "../../test/support/databases.ts";
import { LIBRARIES, type LibraryName, openerOf } from "./libraries/index.ts";

/** `ONCE_KILLS=50` is the whole proof, which takes a quarter of an hour. */
const KILLS = Number(process.env.ONCE_KILLS ?? 6);
/** How many awaits the application has, from the one before BEGIN to the one after COMMIT. */
const AWAITS = 23;
const NAMES = Object.keys(LIBRARIES) as LibraryName[];

interface Ending {
  readonly signal: NodeJS.Signals | null;
  readonly errors: string;
}

async function killedApplication(...args: readonly string[]): Promise<Ending> {
  const program = new URL("killed-application.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["--conditions=oncehook-source", program, ...args]);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const [, signal] = (await onceEmitted(child, "close")) as [number | null, NodeJS.Signals | null];
  return { signal, errors };
}

describe("an application that is killed while once handles an event", () => {
  it.each(NAMES)(
    `the platform's next delivery completes the event, with one effect, for each of ${KILLS} kills: %s`,
    { timeout: KILLS * 30_000 },
    async (name) => {
      await withMigrated("postgres", async ({ url }) => {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        for (const table of ["effects", "audits"])
          await client.query(`CREATE TABLE ${table} (id bigserial PRIMARY KEY, note text NOT NULL)`);
        const library = await (await openerOf(name))(url);
        const endings: Record<string, number> = {};
        try {
          for (let kill = 0; kill < KILLS; kill += 1) {
            const id = `evt_${kill}`;
            // All awaits in turn; a few kills are spread over them.
            const number = 1 + ((KILLS < AWAITS ? Math.floor((kill * AWAITS) / KILLS) : kill) % AWAITS);
            const { signal, errors } = await killedApplication(name, url, id, String(number));
            expect({ signal, errors: errors.slice(0, 2_000) }).toEqual({ signal: "SIGKILL", errors: "" });
            const { kind } = await library.transaction("read committed", (tx) =>
              once(library.join(tx), { source: "shop", id }, async (inner) => {
                await library.insert(inner, "effects", id);
              }),
            );
            endings[kind] = (endings[kind] ?? 0) + 1;
          }
          const { rows } = await client.query<{ count: string; ids: string }>(
            "SELECT count(*), count(DISTINCT note) AS ids FROM effects",
          );
          expect(rows[0]).toEqual({ count: String(KILLS), ids: String(KILLS) });
          if (process.env.ONCE_KILLS !== undefined) process.stdout.write(`${name}: ${JSON.stringify(endings)}\n`);
          expect(endings.ran).toBeGreaterThan(0);
        } finally {
          await library.close();
          await client.end();
        }
      });
    },
  );
});
