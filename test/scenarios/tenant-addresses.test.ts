import { describe, expect, it } from "vitest";
import { createAdminClient } from "../../src/admin-client/index.ts";
import type { TenantSecrets } from "../../src/sources/schemes/tenant-scheme.ts";
import { startReceiver, type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

const SECRET = "the secret of the shop acme.";

const check = ({ adminOrigin }: TestReceiver) =>
  createAdminClient({ origin: adminOrigin, token: TOKEN }).sources.check("shops");

async function deliver({ publicOrigin }: TestReceiver, path: string): Promise<number> {
  const body = Buffer.from('{"id":"evt_1","type":"order"}');
  const headers = shop({ secret: SECRET }).sign?.({ body, now: new Date() }) ?? {};
  return (await fetch(`${publicOrigin}${path}`, { method: "POST", body, headers })).status;
}

function withShops(path: string, secret: TenantSecrets, use: (receiver: TestReceiver) => Promise<void>) {
  return withReceiver("sqlite", use, { sources: { shops: shop({ path, secret }) } });
}

describe("the check of an address whose path has parameters", () => {
  it("the check goes to the tenant that was first seen last, and says so", () =>
    withShops(
      "/hooks/:region/:shop",
      () => SECRET,
      async (receiver) => {
        expect(await deliver(receiver, "/hooks/eu/acme")).toBe(200);
        await until(async () => (await receiver.count("oncehook_tenant_secret_uses")) === 1);
        const { addresses, ...found } = await check(receiver);
        expect(found).toMatchObject({
          reached: true,
          status: 401,
          url: `${receiver.publicOrigin}/hooks/:region/:shop`,
          message: `Reached: the receiver refused the unsigned request with 401, as it should. The request went to ${receiver.publicOrigin}/hooks/eu/acme, since the path has parameters.`,
        });
        expect(addresses).toHaveLength(1);
        expect(await receiver.count("oncehook_callbacks", "outcome = 'endpoint_check'")).toBe(1);
      },
    ));

  it("the check goes to a made-up tenant where none has sent a callback, and counts as no refused callback", () =>
    withShops(
      "/hooks/:shop",
      () => undefined,
      async (receiver) => {
        expect(await check(receiver)).toMatchObject({
          reached: true,
          status: 401,
          message: expect.stringContaining(`The request went to ${receiver.publicOrigin}/hooks/example,`),
        });
        expect(await receiver.count("oncehook_callbacks", "outcome = 'endpoint_check'")).toBe(1);
      },
    ));

  it("the check goes to a made-up tenant where the path has changed since a tenant was seen", () =>
    withShops(
      "/hooks/:shop",
      () => SECRET,
      async (receiver) => {
        expect(await deliver(receiver, "/hooks/acme")).toBe(200);
        await until(async () => (await receiver.count("oncehook_tenant_secret_uses")) === 1);
        const longer = shop({ path: "/hooks/:region/:shop", secret: () => SECRET });
        const other = await startReceiver(receiver.target, { sources: { shops: longer } });
        try {
          expect(await check(other)).toMatchObject({
            reached: true,
            message: expect.stringContaining("/hooks/example/example,"),
          });
        } finally {
          await other.stop();
        }
      },
    ));

  it("the check says that the function of secrets fails", () =>
    withShops(
      "/hooks/:shop",
      () => {
        throw new Error("no such shop");
      },
      async (receiver) => {
        expect(await check(receiver)).toMatchObject({
          reached: true,
          status: 503,
          message: expect.stringMatching(/^Reached, but answered 503: the keys or secrets .* not be had/),
        });
      },
    ));

  it("the check of a source whose signature covers the path goes to a made-up tenant", () => {
    const shops = shop({ path: "/hooks/:shop", signed: "{path}{body}", secret: SECRET });
    return withReceiver(
      "sqlite",
      async (receiver) => {
        expect(await check(receiver)).toMatchObject({ reached: true, status: 401 });
      },
      { sources: { shops } },
    );
  });
});
