import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { hmac } from "../../src/sources/platforms/index.ts";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { freePort } from "../support/free-port.ts";
import { type ReceiverOptions, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { until } from "../support/until.ts";

async function withCommand(
  use: (receiver: TestReceiver, run: (...args: string[]) => Promise<Ended>) => Promise<void>,
  env: Record<string, string> = {},
  { sources = {}, handlers = [] }: Pick<ReceiverOptions, "sources" | "handlers"> = {},
): Promise<void> {
  // The redirect address of OAuth is the configured one, so that its port must be one.
  const PORT = String(await freePort());
  return withReceiver(
    "sqlite",
    (receiver) =>
      use(receiver, (...args) =>
        runCommandLine(["sources", ...args], {
          ...CHILD_ENVIRONMENT,
          ADMIN_PORT: new URL(receiver.adminOrigin).port,
        }),
      ),
    { env: { PORT, ...env }, sources, handlers },
  );
}

describe("oncehook sources", () => {
  it("oncehook sources prints what to register, the secrets by name, and the types", () =>
    withCommand(async (receiver, run) => {
      const { code, stdout, stderr } = await run();
      expect([code, stderr]).toEqual([0, ""]);
      const lines = stdout.split("\n");
      expect(lines[0]).toBe("the built-in protocol (`platform`), authenticated by hmac");
      const base = `POST ${receiver.publicOrigin}/api`;
      expect(lines).toContain(`${base}/platform/callback     chosen by X-API-Version`);
      expect(lines).toContain(`${base}/v2/platform/callback  v2`);
      expect(stdout).toMatch(/^SIGNING_SECRET {2}hmac, in X-Signature {2}never$/m);
      expect(stdout).toMatch(/^OAuth redirect address: \S+\/api\/platform\/oauth-callback$/m);
      expect(stdout).toMatch(/^platform +user_authorized +v1, v2 +yes$/m);
    }));

  it("oncehook sources prints each source's platform, what to register and what it got", () =>
    withCommand(
      async (receiver, run) => {
        const { stdout } = await run();
        const url = `${receiver.publicOrigin}/api/stripe/callback`;
        expect(stdout).toContain(`source stripe, authenticated by the header Stripe-Signature
  preset          stripe (Stripe), tested with the platform's SDK, which signs
  documentation   https://docs.stripe.com/webhooks/signature
  to do           Register ${url} with Stripe, exactly as it is. Stripe proves each callback by the header Stripe-Signature.
  key             signed id: a callback that is sent again, or captured, is a duplicate
  deadline        10 s
  retries         72 h
  disables after  not documented
  answer          within 6667 ms
  rate limit      6000 in 60 s, for each address
  event types     *; others: ignore
  last 24 hours   no callback
`);
        const versions = ["v1", "v2"].map((one) => `${receiver.publicOrigin}/api/${one}/stripe/callback`);
        expect(stdout).toContain(`also served: ${versions.join(" ")}\n`);
      },
      { SOURCES: "stripe", STRIPE_SECRET: "whsec_of-the-tests", RATE_LIMIT_CALLBACK: "10/minute" },
    ));

  it("sources tenants prints the last use of each tenant's secrets", () => {
    const signed = { signature: { header: "X-Signature", encoding: "hex" as const }, signed: "{body}" };
    const own = { ...signed, id: "body.id", type: "body.type" };
    const sources = { shops: hmac({ ...own, path: "/hooks/:shop", secret: () => "the secret of a shop" }) };
    return withCommand(
      async (receiver, run) => {
        expect((await run()).stdout).toContain("see oncehook sources tenants shops\n");
        expect((await run("tenants", "shops")).stdout).toBe("no tenant has sent a callback\n");
        const body = Buffer.from('{"id":"1","type":"order"}');
        const headers = hmac({ ...own, secret: "the secret of a shop" }).sign?.({ body, now: new Date() }) ?? {};
        const sent = await fetch(`${receiver.publicOrigin}/hooks/acme`, { method: "POST", body, headers });
        expect(sent.status).toBe(200);
        await until(async () => (await receiver.count("oncehook_tenant_secret_uses")) === 1);
        const { stdout } = await run("tenants", "shops", "--tenant", "acme");
        expect(stdout).toMatch(/^tenant +current secret +previous secret\n[- ]+\nacme +\d{4}-\S+Z +never\n$/);
        expect((await run("tenants", "platform")).code).toBe(1);
      },
      {},
      { sources },
    );
  });

  it("oncehook sources prints the names of handlers where there are any", () => {
    const order = { source: "stripe", type: "invoice.*", data: z.looseObject({}), handle: () => ({}) };
    const handlers = [defineHandler(order), defineHandler({ ...order, name: "audit" })];
    return withCommand(
      async (_receiver, run) => {
        const { stdout } = await run();
        expect(stdout).toMatch(/^source +event type +name +versions +prepare$/m);
        expect(stdout).toMatch(/^stripe +invoice\.\* +v1, v2 +no$/m);
        expect(stdout).toMatch(/^stripe +invoice\.\* +audit +v1, v2 +no$/m);
      },
      { SOURCES: "stripe", STRIPE_SECRET: "whsec_of-the-tests" },
      { handlers },
    );
  });

  it("sources --check has the receiver check its addresses, and exits 0 where each is reached", () =>
    withCommand(async (receiver, run) => {
      const { code, stdout } = await run("--check");
      expect(code).toBe(0);
      const url = `${receiver.publicOrigin}/api/v1/platform/callback`;
      expect(stdout).toContain(
        `reached     ${url}\n  Reached: the receiver refused the unsigned request with 401, as it should.\n  Warning: It was found at 127.0.0.1,`,
      );
      // Three addresses for callbacks, and one for OAuth redirects.
      expect(stdout).toContain("\nThese 4 requests of the receiver to itself count against the rate limits");
    }));

  it("sources --check reaches an address with parameters, and prints where the request went", () => {
    const signature = { header: "X-Signature", encoding: "hex" } as const;
    const own = { signature, signed: "{body}", id: "body.id", type: "body.type" };
    const shops = hmac({ ...own, path: "/hooks/:shop", secret: () => undefined });
    return withCommand(
      async (receiver, run) => {
        const { code, stdout } = await run("--check");
        expect(code).toBe(0);
        expect(stdout).toContain(
          `reached     ${receiver.publicOrigin}/hooks/:shop\n  Reached: the receiver refused the unsigned request with 401, as it should. ` +
            `The request went to ${receiver.publicOrigin}/hooks/example, since the path has parameters.\n`,
        );
      },
      {},
      { sources: { shops } },
    );
  });

  it("oncehook sources exits 1 where an address is not reached, with the reason", async () => {
    const port = await freePort();
    await withCommand(
      async (_receiver, run) => {
        const { code, stdout } = await run("--check");
        expect(code).toBe(1);
        expect(stdout).toContain(
          `NOT REACHED http://127.0.0.1:${port}/api/platform/callback\n  127.0.0.1:${port} refuses connections: nothing listens there.`,
        );
      },
      { CALLBACK_BASE_URL: `http://127.0.0.1:${port}` },
    );
  });

  it("oncehook sources prints the answers of the admin API with --json", () =>
    withCommand(async (receiver, run) => {
      const list = JSON.parse((await run("--json")).stdout);
      expect(list).toEqual((await receiver.admin("/api/v1/sources")).body);
      const checked = JSON.parse((await run("--check", "--json")).stdout);
      expect(checked).toMatchObject({
        ...list,
        checks: [
          { source: "platform", reached: true, status: 401 },
          { source: "oauth", reached: true },
        ],
      });
      expect(checked.checks[0].addresses).toHaveLength(3);
    }));
});
