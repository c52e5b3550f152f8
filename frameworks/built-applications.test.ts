import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installed, pack } from "../test/deploy/packed.ts";
import { STRIPE_SECRET, stripeCallback, VARIABLES } from "../test/support/application.ts";
import { freePort } from "../test/support/free-port.ts";
import { until } from "../test/support/until.ts";
import { BUILT_APPLICATIONS, type BuiltApplication } from "./built-applications.ts";

const run = promisify(execFile);
const MINUTES = 60_000;
const { PATH, HOME } = process.env;
/** None of an application's variables. */
const BARE = { PATH, HOME, CI: "1", NO_COLOR: "1", NEXT_TELEMETRY_DISABLED: "1" };

let folder: string;
let archive: string;
let remove = async () => {};
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oncehook-built-"));
  // An archive that is packed already saves its build.
  const packed = process.env.ONCEHOOK_ARCHIVE === undefined ? await pack() : undefined;
  archive = packed?.archive ?? String(process.env.ONCEHOOK_ARCHIVE);
  remove = async () => packed?.remove();
}, 10 * MINUTES);
afterAll(async () => {
  await remove();
  await rm(folder, { recursive: true, force: true });
});

/** The blocks of a page that are named after files. */
function fileBlocks(page: string): [path: string, text: string][] {
  const blocks = readFileSync(page, "utf8").matchAll(/```\w+ ([\w./[\]+-]+\.\w+)\n([\s\S]*?)```/g);
  return Array.from(blocks, ([, path = "", text = ""]) => [path, text]);
}

async function built({ name, page, packages, files, build }: BuiltApplication): Promise<string> {
  const place = await installed(join(folder, name.replaceAll(/\W/g, "-")), [archive, ...packages]);
  const config = fileBlocks("docs/frameworks/nextjs.md").filter(([path]) => path === "oncehook.config.ts");
  for (const [path, text] of [...config, ...fileBlocks(page), ...Object.entries(files)]) {
    await mkdir(dirname(join(place, path)), { recursive: true });
    await writeFile(join(place, path), text);
  }
  const [program = "", ...args] = build;
  await run(join(place, "node_modules/.bin", program), args, { cwd: place, env: BARE, maxBuffer: 1 << 26 });
  return place;
}

/** As a deployment does; the application has to end by itself. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit", { signal: AbortSignal.timeout(MINUTES / 2) });
}

describe.each(BUILT_APPLICATIONS)("$name", (application) => {
  it(
    `${application.name} builds without variables and database, and its callbacks are handled once, and SIGTERM ends it`,
    async () => {
      const cwd = await built(application);
      const port = await freePort();
      const { args, variables = {} } = application.start(port);
      const env = {
        ...{ ...BARE, ...variables, STRIPE_SECRET, ONCEHOOK_DATABASE_URL: `sqlite:${cwd}/events.db` },
        ONCEHOOK_ENCRYPTION_KEY: VARIABLES.ENCRYPTION_KEY,
      };
      const server = spawn(process.execPath, args, { cwd, env, stdio: "ignore" });
      try {
        const origin = `http://127.0.0.1:${port}`;
        await until(
          () =>
            fetch(origin).then(
              () => true,
              () => false,
            ),
          MINUTES,
        );
        const send = async ({ body, headers }: ReturnType<typeof stripeCallback>) => {
          const response = await fetch(`${origin}/api/stripe/callback`, { method: "POST", body, headers });
          return [response.status, await response.json()];
        };
        const callback = stripeCallback();
        expect(await send(callback)).toEqual([200, { status: "success", data: { handled: callback.id } }]);
        expect(await send(callback)).toEqual([200, { status: "already_processed" }]);
        const forged = stripeCallback("evt_forged", "whsec_of_another_account");
        expect(await send(forged)).toEqual([401, { error: "invalid signature" }]);
        const form = await fetch(`${origin}/api/stripe/callback`, { method: "POST", body: new URLSearchParams("a=1") });
        expect(form.status).toBe(401);
      } finally {
        await stop(server);
      }
    },
    8 * MINUTES,
  );
});
