import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { asCurl } from "../../dashboard/src/pages/callback/as-curl.ts";
import type { CallbackView } from "../../src/admin-client/index.ts";
import { payment, withReceiver } from "../support/receiver.ts";
import { SECRET } from "../support/secrets.ts";

const run = promisify(execFile);
const LIMIT_MS = 60_000;

/** Lends a folder in which `oncehook` is the project's own command. */
async function withCommand<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "oncehook-curl-"));
  try {
    const command = join(folder, "oncehook");
    const main = join(process.cwd(), "src/cli/main.js");
    writeFileSync(
      command,
      `#!/bin/sh\nexec '${process.execPath}' --conditions=oncehook-source '${main}' "$@"\n`,
    );
    chmodSync(command, 0o755);
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it(
  "copies a callback as a command that signs and sends it again, and holds no secret",
  { timeout: LIMIT_MS },
  () =>
    withReceiver("sqlite", async (receiver) => {
      // What a shell would take for its own.
      await receiver.send(payment({ event_id: 'it\'s $(me) `and` \\ "you"' }));
      const { body } = await receiver.admin("/api/v1/callbacks");
      const [callback] = (body as { items: CallbackView[] }).items;
      const command = asCurl(callback!, receiver.publicOrigin);
      expect(command).not.toContain(SECRET);
      expect(command).not.toMatch(/[0-9a-f]{64}/);
      const { stdout } = await withCommand((folder) =>
        run("sh", ["-c", command], {
          cwd: folder,
          env: { PATH: `${folder}:${process.env.PATH}`, SIGNING_SECRET: SECRET },
        }),
      );
      expect(JSON.parse(stdout)).toEqual({ status: "already_processed" });
    }),
);
