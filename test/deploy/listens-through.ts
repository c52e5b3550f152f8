import { join } from "node:path";
import { expect, it } from "vitest";
import { startListening, withLaptop } from "../support/laptop.ts";
import { payment, TOKEN } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { type BehindAProxy, signature } from "./behind-a-proxy.ts";
import { ask } from "./proxy-client.ts";

type Lend = (use: (proxied: BehindAProxy) => Promise<void>, env?: Record<string, string>) => Promise<void>;

const LIMIT_MS = 60_000;
const HEARD = { method: "GET", path: "/_oncehook/captured" };

/** What a receiver for development captured reaches its listener. */
export function letsListen(lend: Lend): void {
  it("lets oncehook listen through, which needs ADMIN_TOKEN", () =>
    withLaptop((laptop) =>
      lend(
        async (proxied) => {
          expect((await ask(proxied, HEARD)).status).toBe(401);
          const from = `https://localhost:${proxied.httpsPort}`;
          const env = { ADMIN_TOKEN: TOKEN, NODE_EXTRA_CA_CERTS: join(proxied.folder, "cert.pem") };
          const listening = startListening(["--from", from, "--to", `${laptop.origin}/hook`], env);
          try {
            await until(() => listening.stderr().includes("listening to"), LIMIT_MS);
            // One after the other: each is passed on when it comes, and waits for no full buffer.
            for (const count of [1, 2]) {
              const body = JSON.stringify(payment());
              const headers = { "x-signature": signature(body) };
              expect((await ask(proxied, { body, headers })).status).toBe(200);
              await until(() => laptop.arrived.length === count, LIMIT_MS);
            }
            expect(laptop.arrived.map(({ isAuthentic }) => isAuthentic)).toEqual([true, true]);
            expect(listening.stderr()).not.toContain("broke off");
          } finally {
            listening.child.kill("SIGKILL");
          }
        },
        { CAPTURE: "on" },
      ),
    ));
}
