import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../test/support/free-port.ts";
import { SECRET } from "../load/event-file.ts";
import { startServer } from "../machine/server-process.ts";
import { type Contender, serving } from "./contender.ts";

/**
 * Debian's `webhook` with a hook that verifies the HMAC of the body. It answers before it runs the hook's command, and the
 * command is left empty, which favours it: a process for each event would be all that is measured.
 */
export const webhook: Contender = {
  name: "webhook",
  title: "Debian's webhook",
  store: "none",
  isIdempotent: false,
  async version() {
    try {
      const { stdout } = await promisify(execFile)("webhook", ["-version"]);
      return stdout.trim();
    } catch (cause) {
      throw new Error("the command webhook is not there; on Debian: apt-get install webhook", { cause });
    }
  },
  async start({ folder }) {
    const port = await freePort();
    const hooks = join(folder, "hooks.json");
    writeFileSync(hooks, JSON.stringify([HOOK]));
    const server = await startServer({
      command: "webhook",
      args: ["-hooks", hooks, "-ip", "127.0.0.1", "-port", String(port)],
      env: {},
      folder,
      port,
    });
    return serving([server], [`http://127.0.0.1:${port}/hooks/callback`]);
  },
};

const HOOK = {
  id: "callback",
  "execute-command": "",
  "response-message": '{"status":"success"}',
  "trigger-rule-mismatch-http-response-code": 401,
  "trigger-rule": {
    match: {
      type: "payload-hmac-sha256",
      secret: SECRET,
      parameter: { source: "header", name: "X-Signature" },
    },
  },
};
