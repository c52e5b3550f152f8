import { expect, it } from "vitest";
import { z } from "zod";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { defineHandler } from "../../src/handlers/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { conforms } from "../support/openapi.ts";
import { type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

type Secrets = Exclude<
  NonNullable<Parameters<typeof shop>[0]>["secret"],
  string | readonly (string | undefined)[] | undefined
>;

const shops = (secret: Secrets) => shop({ path: "/hooks/:region/:shop", secret });

interface Delivery {
  readonly path: string;
  readonly secret: string;
  readonly event: object;
  readonly from: string;
}

async function deliver(receiver: TestReceiver, path: string, secret: string, event: object) {
  return deliverFrom(receiver, { path, secret, event, from: "192.0.2.1" });
}

/** @param delivery.from the remote address, where the receiver trusts its proxy */
async function deliverFrom(receiver: TestReceiver, { path, secret, event, from }: Delivery) {
  const body = Buffer.from(JSON.stringify(event));
  const signed = shop({ secret }).sign?.({ body, now: new Date() }) ?? {};
  const headers = { ...signed, "x-forwarded-for": from, "x-forwarded-proto": "https" };
  const response = await fetch(`${receiver.publicOrigin}/hooks/${path}`, { method: "POST", body, headers });
  return { status: response.status, body: (await response.json()) as { status?: string } };
}

const secretOf = (shop: string) => `the secret of the shop ${shop}.`;

describeFullOnPostgres("tenants on %s", (dialect) => {
  it("each of a thousand tenants is verified by its own secret alone", {
    tags: "full",
    timeout: 120_000,
  }, () => {
    let lookups = 0;
    const source = shops(({ params }) => {
      lookups += 1;
      return secretOf(String(params.shop));
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const names = Array.from({ length: 1_000 }, (_, index) => `shop-${index}`);
        for (let at = 0; at < names.length; at += 50) {
          const some = names.slice(at, at + 50);
          const results = await Promise.all(
            some.map(async (name, index) => {
              const own = await deliver(receiver, `eu/${name}`, secretOf(name), {
                id: "evt_1",
                type: "order",
              });
              const other = secretOf(names[(at + index + 1) % names.length] as string);
              return [
                own.status,
                (await deliver(receiver, `eu/${name}`, other, { id: "evt_2", type: "order" })).status,
              ];
            }),
          );
          expect(new Set(results.map((pair) => pair.join(" ")))).toEqual(new Set(["200 401"]));
        }
        expect(await receiver.count("oncehook_records", "event_id = 'evt_1'")).toBe(1_000);
        // One look-up each, and one more for the secret that did not fit.
        expect(lookups).toBeLessThanOrEqual(2 * names.length);
      },
      { sources: { shops: source }, env: { RATE_LIMIT_CALLBACK: "off", RATE_LIMIT_DEFAULT: "off" } },
    );
  });

  it("a handler knows its tenant, and equal ids of two tenants are two events", () => {
    const seen: (string | undefined)[] = [];
    const handler = defineHandler({
      source: "shops",
      type: "order",
      data: z.object({ id: z.string() }),
      handle({ source, tenant }) {
        seen.push(`${source} ${tenant}`);
        return {};
      },
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const event = { id: "evt_1", type: "order" };
        expect((await deliver(receiver, "eu/acme", secretOf("eu/acme"), event)).status).toBe(200);
        expect((await deliver(receiver, "us/acme", secretOf("us/acme"), event)).status).toBe(200);
        expect((await deliver(receiver, "eu/acme", secretOf("eu/acme"), event)).body).toEqual({
          status: "already_processed",
        });
        expect(seen).toEqual(["shops eu/acme", "shops us/acme"]);
        const { body } = await receiver.admin("/api/v1/events/shops%2Feu%2Facme/evt_1");
        expect(body).toMatchObject({ source: "shops/eu/acme", event_id: "evt_1" });
      },
      {
        sources: { shops: shops(({ params }) => secretOf(`${params.region}/${params.shop}`)) },
        handlers: [handler],
      },
    );
  });

  it("a recorded callback is not taken under a second name of its tenant, and the log says why", { tags: "full" }, () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const send = (path: string) => deliver(receiver, path, secretOf("acme"), { id: "evt_1", type: "order" });
        expect((await send("eu/acme")).status).toBe(200);
        expect((await send("eu/ACME")).status).toBe(401);
        expect((await send("us/acme")).status).toBe(401);
        expect((await send("eu/acme")).body).toEqual({ status: "already_processed" });
        expect(await receiver.count("oncehook_records")).toBe(1);
        const logged = receiver.lines.filter(({ msg }) => String(msg).startsWith("two tenants of a source"));
        expect(logged).toMatchObject([{ source: "shops", level: 40 }]);
      },
      { sources: { shops: shops(({ params }) => secretOf(String(params.shop).toLowerCase())) } },
    ),
  );

  it("a tenant that there is not returns 401, and a function that fails 503, so that the platform comes again", () => {
    let isDown = false;
    const source = shops(async ({ params }) => {
      if (isDown) throw new Error("the database of shops is away");
      return params.shop === "acme" ? secretOf("acme") : undefined;
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const event = { id: "evt_1", type: "order" };
        expect((await deliver(receiver, "eu/unknown", secretOf("unknown"), event)).status).toBe(401);
        isDown = true;
        expect((await deliver(receiver, "eu/acme", secretOf("acme"), event)).status).toBe(503);
        expect(await receiver.count("oncehook_records")).toBe(0);
      },
      { sources: { shops: source } },
    );
  });

  it("the made-up tenants of one address leave room for a tenant that was not asked for yet", {
    tags: "full",
    timeout: 60_000,
  }, () => {
    const source = shops(({ params }) => (params.shop === "acme" ? secretOf("acme") : undefined));
    const env = { RATE_LIMIT_CALLBACK: "off", RATE_LIMIT_DEFAULT: "off", TRUST_PROXY: "127.0.0.1/32" };
    return withReceiver(
      dialect,
      async (receiver) => {
        const event = { id: "evt_1", type: "order" };
        const send = (shop: string, from: string) =>
          deliverFrom(receiver, { path: `eu/${shop}`, secret: secretOf("acme"), event, from });
        const made = Array.from({ length: 2_100 }, (_, index) => `made-up-${index}`);
        const statuses = new Set<number>();
        for (let at = 0; at < made.length; at += 50) {
          const some = made.slice(at, at + 50).map((shop) => send(shop, "192.0.2.1"));
          for (const { status } of await Promise.all(some)) statuses.add(status);
        }
        expect(statuses).toEqual(new Set([401, 503]));
        expect((await send("acme", "198.51.100.7")).status).toBe(200);
      },
      { sources: { shops: source }, env },
    );
  });

  it("wrong signatures of one address for 510 known tenants cause at most 500 look-ups, and leave others theirs", {
    tags: "full",
    timeout: 60_000,
  }, () => {
    let lookups = 0;
    let rotated = secretOf("before");
    const source = shops(({ params }) => {
      lookups += 1;
      return params.shop === "acme" ? rotated : secretOf(String(params.shop));
    });
    const env = { RATE_LIMIT_CALLBACK: "off", RATE_LIMIT_DEFAULT: "off", TRUST_PROXY: "127.0.0.1/32" };
    return withReceiver(
      dialect,
      async (receiver) => {
        const send = (shop: string, secret: string, from: string) =>
          deliverFrom(receiver, { path: `eu/${shop}`, secret, event: { id: "evt_1", type: "order" }, from });
        const others = (secret: string) => send("acme", secret, "198.51.100.7");
        expect((await others(rotated)).status).toBe(200);
        lookups = 0;
        const forged = Array.from({ length: 510 }, (_, index) =>
          send(`shop-${index}`, secretOf("a stranger"), "192.0.2.1"),
        );
        const statuses = (await Promise.all(forged)).map(({ status }) => status);
        // Whose first look-up leaves none for the second is answered 503 too.
        for (const status of statuses) expect([401, 503]).toContain(status);
        expect(statuses).toContain(503);
        expect(lookups).toBeGreaterThan(250);
        expect(lookups).toBeLessThanOrEqual(500);
        rotated = secretOf("after");
        expect((await others(rotated)).body).toEqual({ status: "already_processed" });
      },
      { sources: { shops: source }, env },
    );
  });

  it("a tenant's new secret is found at its first use", { tags: "full" }, () => {
    let secret = secretOf("before");
    return withReceiver(
      dialect,
      async (receiver) => {
        expect((await deliver(receiver, "eu/acme", secret, { id: "1", type: "order" })).status).toBe(200);
        secret = secretOf("after");
        expect((await deliver(receiver, "eu/acme", secret, { id: "2", type: "order" })).status).toBe(200);
        expect((await deliver(receiver, "eu/acme", secretOf("before"), { id: "3", type: "order" })).status).toBe(401);
      },
      { sources: { shops: shops(() => secret) } },
    );
  });

  it("the last use of a secret is listed for each tenant, and an unauthenticated sender adds no tenant", {
    tags: "full",
  }, () => {
    const source = shops(({ params }) =>
      params.shop === "unknown" ? undefined : [secretOf(`${params.shop}, new`), secretOf(String(params.shop))],
    );
    return withReceiver(
      dialect,
      async (receiver) => {
        const { sources } = createAdminClient({ origin: receiver.adminOrigin, token: TOKEN });
        const uses = async (query = {}) =>
          (await sources.tenants("shops", query)).items.map((one) => [
            one.tenant,
            one.current_used_at !== null,
            one.previous_used_at !== null,
          ]);
        const event = { id: "1", type: "order" };
        expect((await deliver(receiver, "eu/acme", secretOf("acme"), event)).status).toBe(200);
        expect((await deliver(receiver, "eu/bolt", secretOf("bolt, new"), event)).status).toBe(200);
        expect((await deliver(receiver, "eu/coil", secretOf("of a stranger"), event)).status).toBe(401);
        expect((await deliver(receiver, "eu/unknown", secretOf("unknown"), event)).status).toBe(401);
        await until(async () => (await uses()).length === 2);
        expect(await uses({ tenant: "eu/acme" })).toEqual([["eu/acme", false, true]]);
        expect(await uses({ tenant: "eu/bolt" })).toEqual([["eu/bolt", true, false]]);
        expect(await uses({ tenant: "eu/coil" })).toEqual([]);
        const path = "/api/v1/sources/{source}/tenants";
        conforms(path, "get", await receiver.admin("/api/v1/sources/shops/tenants?limit=1"));
        const absent = await receiver.admin("/api/v1/sources/platform/tenants");
        conforms(path, "get", absent);
        expect(absent.status).toBe(404);
        const { items } = await sources.list();
        expect(items.map((one) => [one.source, one.has_tenant_secrets])).toEqual([
          ["platform", false],
          ["shops", true],
        ]);
      },
      { sources: { shops: source } },
    );
  });

  it.each(["eu", "eu/acme/more", "eu/a%63me", "eu/", "eu/../acme"])("the path %s is of no tenant", (path) =>
    withReceiver(
      dialect,
      async (receiver) => {
        const { status } = await deliver(receiver, path, secretOf("acme"), { id: "1", type: "order" });
        expect([404, 401]).toContain(status);
        expect(await receiver.count("oncehook_records")).toBe(0);
      },
      { sources: { shops: shops(() => secretOf("acme")) } },
    ),
  );
});
