import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { certificate } from "../support/certificate.ts";
import { withDatabase } from "../support/databases.ts";
import { freePort } from "../support/free-port.ts";
import { startReceiver, type TestReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { notRun, onThePath } from "./on-the-path.ts";
import { ask, OTHER_ADDRESS, type ProxyAddress, type Response } from "./proxy-client.ts";
import { startProxy } from "./proxy-process.ts";

const OPERATOR = "127.0.0.2";
const program = onThePath("caddy");

/** The block of docs/admin-api.md, for a host, a certificate and a network of this test's. */
async function caddyfile(folder: string, httpsPort: number, upstream: string): Promise<string> {
  const [, block = ""] = /```caddyfile\n([\s\S]*?)```/.exec(await readFile("docs/admin-api.md", "utf8")) ?? [];
  const site = block
    .replace("admin.example.com {", `https://localhost:${httpsPort} {\n\ttls ${folder}/cert.pem ${folder}/key.pem`)
    .replace("192.0.2.0/24", `${OPERATOR}/32`)
    .replace("127.0.0.1:8081", upstream);
  expect(site).toMatch(/tls .+[\s\S]+not remote_ip 127\.0\.0\.2\/32[\s\S]+reverse_proxy 127\.0\.0\.1:\d+/);
  return `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`;
}

async function behindCaddy(
  caddy: string,
  use: (receiver: TestReceiver, proxy: ProxyAddress) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-admin-proxy-"));
  const { cert, key } = await certificate("localhost");
  await writeFile(join(folder, "cert.pem"), cert);
  await writeFile(join(folder, "key.pem"), key);
  const httpsPort = await freePort();
  const env = {
    ADMIN_BASE_URL: `https://localhost:${httpsPort}`,
    TRUST_PROXY: "127.0.0.1",
    HOST: "127.0.0.1",
  };
  try {
    await withDatabase("sqlite", async (target) => {
      const receiver = await startReceiver(target, { env });
      const file = join(folder, "Caddyfile");
      await writeFile(file, await caddyfile(folder, httpsPort, new URL(receiver.adminOrigin).host));
      const home = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
      const args = ["run", "--config", file, "--adapter", "caddyfile"];
      const caddyProcess = await startProxy(caddy, args, httpsPort, home);
      try {
        await use(receiver, { httpsPort, httpPort: 0, ca: cert });
      } finally {
        await caddyProcess.stop();
        await receiver.stop();
      }
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe("the admin listener behind the Caddy of docs/admin-api.md", () => {
  if (program === undefined) {
    it.skip(notRun("caddy", "an operator behind a real Caddy"), () => {});
    return;
  }
  it("operators sign in over https with their own address, and no other network gets in", () =>
    behindCaddy(program, async (receiver, proxy) => {
      const host = `localhost:${proxy.httpsPort}`;
      const send = (method: string, path: string, headers: object = {}, body?: string): Promise<Response> =>
        ask(proxy, {
          method,
          path,
          from: OPERATOR,
          headers: { host, origin: `https://${host}`, "content-type": "application/json", ...headers },
          ...(body === undefined ? {} : { body }),
        });
      const begun = await send("POST", "/api/v1/session", {}, JSON.stringify({ token: TOKEN }));
      const [line = ""] = [begun.headers["set-cookie"] ?? []].flat();
      expect([begun.status, line]).toEqual([
        200,
        expect.stringMatching(/^__Host-oncehook-session-\d+=[\w-]{43}; .*Secure; HttpOnly; SameSite=Strict$/),
      ]);
      const cookie = line.split(";")[0];
      const failure = "/api/v1/failures/platform/none";
      // No body comes with it, and an announced one must not be empty.
      const bare = { cookie, "content-type": "text/plain" };
      expect((await send("DELETE", failure, { ...bare, origin: "https://evil.example" })).status).toBe(403);
      expect((await send("DELETE", failure, bare)).status).toBe(404);
      const { body } = await receiver.admin("/api/v1/audit");
      expect(body.items).toMatchObject([
        { action: "failure.discard", remote_address: OPERATOR },
        { action: "session.begin", remote_address: OPERATOR },
      ]);
      const elsewhere = await ask(proxy, {
        method: "GET",
        path: "/healthz",
        from: OTHER_ADDRESS,
        headers: { host },
      });
      expect([elsewhere.status, elsewhere.text]).toEqual([403, ""]);
    }));
});
