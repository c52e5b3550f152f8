import { expect, it } from "vitest";
import type { TenantSecrets } from "../../src/sources/schemes/tenant-scheme.ts";
import { describeFullOnPostgres, type Target, withMigrated } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { startReceiver, type TestReceiver } from "../support/receiver.ts";
import { shop } from "../support/shop-source.ts";

const SECRET = "the secret of the shop acme.";
const BODY = Buffer.from('{"id":"evt_1","type":"order"}');
const HEADERS = shop({ secret: SECRET }).sign?.({ body: BODY, now: new Date() }) ?? {};

/** Every spelling of a shop's name is a shop, as in a database that ignores case. */
const ignoresCase: TenantSecrets = ({ params }) => (String(params.shop).toLowerCase() === "acme" ? SECRET : undefined);

/** One recorded callback, sent to the path of any tenant. */
async function replay({ publicOrigin }: TestReceiver, tenant: string) {
  const response = await fetch(`${publicOrigin}/hooks/${tenant}`, {
    method: "POST",
    body: BODY,
    headers: HEADERS,
  });
  return response.status;
}

/** Lends processes of one receiver to a test, one after the other or side by side. */
async function withProcess(
  target: Target,
  use: (receiver: TestReceiver) => Promise<void>,
  { secret = ignoresCase, path = "/hooks/:region/:shop", env = {} } = {},
) {
  const receiver = await startReceiver(target, { sources: { shops: shop({ path, secret }) }, env });
  try {
    await use(receiver);
  } finally {
    await receiver.stop();
  }
}

describeFullOnPostgres("the tenant of a secret on %s", (dialect) => {
  it("a secret stays with the tenant that it verified first after a restart, and the log names both", () =>
    withMigrated(dialect, async (target) => {
      await withProcess(target, async (receiver) => expect(await replay(receiver, "eu/acme")).toBe(200));
      await withProcess(target, async (receiver) => {
        expect(await replay(receiver, "eu/ACME")).toBe(401);
        expect(await replay(receiver, "eu/acme")).toBe(200);
        expect(await receiver.count("oncehook_records")).toBe(1);
        const logged = receiver.lines.filter(({ msg }) => String(msg).startsWith("two tenants of a source"));
        expect(logged).toMatchObject([{ source: "shops", tenants: ["eu/acme", "eu/ACME"] }]);
      });
    }));

  it("a secret that one process has verified is refused for another tenant in a second process", () =>
    withMigrated(dialect, (target) =>
      withProcess(target, (one) =>
        withProcess(target, async (other) => {
          expect(await replay(one, "eu/acme")).toBe(200);
          expect(await replay(other, "us/acme")).toBe(401);
          expect(await replay(other, "eu/acme")).toBe(200);
        }),
      ),
    ));

  it("two processes that verify one secret at once for two tenants accept one of them", () =>
    withMigrated(dialect, (target) =>
      withProcess(target, (one) =>
        withProcess(target, async (other) => {
          const statuses = await Promise.all([replay(one, "eu/acme"), replay(other, "us/acme")]);
          expect(statuses.toSorted()).toEqual([200, 401]);
        }),
      ),
    ));

  it("a secret that its stored tenant has lost verifies for another one, in every process", () =>
    withMigrated(dialect, async (target) => {
      await withProcess(target, async (receiver) => expect(await replay(receiver, "eu/acme")).toBe(200));
      const secret: TenantSecrets = ({ params }) => (params.region === "us" ? SECRET : undefined);
      const moved = { secret };
      await withProcess(target, async (receiver) => expect(await replay(receiver, "us/acme")).toBe(200), moved);
      await withProcess(target, async (receiver) => expect(await replay(receiver, "us/ACME")).toBe(401), moved);
    }));

  it("a stored tenant that the path cannot name any more does not hold the secret", () =>
    withMigrated(dialect, async (target) => {
      await withProcess(target, async (receiver) => expect(await replay(receiver, "eu/acme")).toBe(200));
      const path = "/hooks/:shop";
      await withProcess(target, async (receiver) => expect(await replay(receiver, "acme")).toBe(200), {
        path,
      });
    }));

  it("a refused callback adds no row, and a row does not hold the secret's own hash", { tags: "full" }, () =>
    withMigrated(dialect, (target) =>
      withProcess(target, async (receiver) => {
        expect(await replay(receiver, "eu/unknown")).toBe(401);
        expect(await receiver.count("oncehook_tenant_secrets")).toBe(0);
        for (const tenant of ["eu/acme", "us/acme", "eu/Acme"]) await replay(receiver, tenant);
        expect(await receiver.count("oncehook_tenant_secrets")).toBe(1);
        expect(await receiver.count("oncehook_tenant_secrets", "tenant = 'eu/acme' AND length(fingerprint) = 16")).toBe(
          1,
        );
      }),
    ),
  );

  it("a tenant that cannot be looked up returns 503, so that the platform sends the callback again", () =>
    withMigrated(dialect, (target) =>
      withProcess(target, async (receiver) => {
        await execute(target, "ALTER TABLE oncehook_tenant_secrets RENAME TO away");
        expect(await replay(receiver, "eu/acme")).toBe(503);
        await execute(target, "ALTER TABLE away RENAME TO oncehook_tenant_secrets");
        expect(await replay(receiver, "eu/acme")).toBe(200);
      }),
    ));
});
