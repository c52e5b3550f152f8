import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { behindAProxy } from "./behind-a-proxy.ts";
import { letsListen } from "./listens-through.ts";
import { notRun, onThePath } from "./on-the-path.ts";
import { holdsItsPromises } from "./proxy-promises.ts";
import { startCaddy } from "./start-caddy.ts";

const program = onThePath("caddy");

describe("deploy/caddy/Caddyfile", () => {
  if (program === undefined) {
    it.skip(notRun("caddy", "a receiver behind a real Caddy"), () => {});
    return;
  }
  type Use = Parameters<typeof behindAProxy>[1];
  const lend = (use: Use, env?: Record<string, string>) =>
    behindAProxy((files) => startCaddy(program, files), use, env);
  holdsItsPromises(lend);
  letsListen(lend);

  it("the Caddyfile is valid as it stands, with no variable set", async () => {
    const args = ["validate", "--config", "deploy/caddy/Caddyfile", "--adapter", "caddyfile"];
    const { stdout, stderr } = await promisify(execFile)(program, args, {
      env: { PATH: process.env.PATH, HOME: tmpdir() },
    });
    expect(stdout + stderr).toContain("Valid configuration");
  });
});
