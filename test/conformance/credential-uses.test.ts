import { describe, expect, it } from "vitest";
import { createUseRecorder } from "../../src/credentials/credential-uses.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { inspectTarget } from "../support/inspect-target.ts";
import { until } from "../support/until.ts";

const day = (number: number) => new Date(Date.UTC(2026, 0, number));
const SECRET = { method: "hmac", fingerprint: "a" };

describe.each(DIALECTS)("the uses of a secret on %s", (dialect) => {
  it("the uses of a secret are kept for the secret, whether it is current or previous", () =>
    withStore(dialect, async (store, target) => {
      await store.credentialUses.noteConfigured([{ ...SECRET, isPrevious: false }], day(1));
      await store.credentialUses.note(SECRET, day(2));
      await store.credentialUses.noteConfigured([{ ...SECRET, isPrevious: true }], day(3));
      await store.credentialUses.note(SECRET, day(4));
      await store.credentialUses.note({ ...SECRET, method: "token" }, day(5));
      expect(await inspectTarget(target)).toMatchObject({
        credentialUses: expect.arrayContaining([
          { ...SECRET, previousSince: day(3).toISOString(), lastUsedAt: day(4).toISOString() },
          { ...SECRET, method: "token", previousSince: null, lastUsedAt: day(5).toISOString() },
        ]),
      });
    }));

  it("the store returns the uses of the secrets that are asked for, and no others", () =>
    withStore(dialect, async (store) => {
      const other = { method: "token", fingerprint: "b" };
      await store.credentialUses.noteConfigured([{ ...SECRET, isPrevious: true }], day(1));
      await store.credentialUses.note(other, day(2));
      await store.credentialUses.note({ method: "hmac", fingerprint: "b" }, day(3));
      const previous = { ...SECRET, previousSince: day(1).toISOString(), lastUsedAt: null };
      expect(await store.credentialUses.list([])).toEqual([]);
      expect(await store.credentialUses.list([SECRET])).toEqual([previous]);
      const uses = await store.credentialUses.list([other, SECRET, { method: "jwt", fingerprint: "a" }]);
      expect(uses).toHaveLength(2);
      expect(uses).toEqual(
        expect.arrayContaining([previous, { ...other, previousSince: null, lastUsedAt: day(2).toISOString() }]),
      );
    }));

  it("the uses of a previous secret count from the first start with it, until it is current again", () =>
    withStore(dialect, async (store, target) => {
      const since = async () => {
        const found = await inspectTarget(target);
        return found.exists ? found.credentialUses.map(({ previousSince }) => previousSince) : [];
      };
      for (const number of [1, 2]) {
        await store.credentialUses.noteConfigured([{ ...SECRET, isPrevious: true }], day(number));
        expect(await since()).toEqual([day(1).toISOString()]);
      }
      await store.credentialUses.noteConfigured([{ ...SECRET, isPrevious: false }], day(3));
      expect(await since()).toEqual([null]);
      await store.credentialUses.noteConfigured([{ ...SECRET, isPrevious: true }], day(4));
      expect(await since()).toEqual([day(4).toISOString()]);
    }));
});

describe.each(DIALECTS)("the uses of tenants' secrets on %s", (dialect) => {
  const use = (tenant: string, isPrevious = false) => ({ source: "shops", tenant, isPrevious });

  it("the store keeps one row for a tenant, with the last use of its current and of its previous secrets", () =>
    withStore(dialect, async ({ tenantSecretUses }) => {
      await tenantSecretUses.note([use("acme"), use("bolt"), use("acme", true)], day(1));
      await tenantSecretUses.note([use("acme"), { ...use("acme"), source: "others" }], day(2));
      await tenantSecretUses.note([], day(3));
      const listed = await tenantSecretUses.list({ source: "shops" }, { limit: 10 });
      expect(listed.map(({ id: _id, ...row }) => row).toSorted((a, b) => (a.tenant < b.tenant ? -1 : 1))).toEqual([
        { tenant: "acme", currentUsedAt: day(2).toISOString(), previousUsedAt: day(1).toISOString() },
        { tenant: "bolt", currentUsedAt: day(1).toISOString(), previousUsedAt: null },
      ]);
      const [first] = await tenantSecretUses.list({ source: "shops" }, { limit: 1 });
      const rest = await tenantSecretUses.list({ source: "shops" }, { limit: 9, before: Number(first?.id) });
      expect(rest).toHaveLength(1);
      expect(await tenantSecretUses.list({ source: "shops", tenant: "bolt" }, { limit: 9 })).toHaveLength(1);
    }));

  it("the retention job deletes a tenant whose secrets have not been used for 90 days", () =>
    withStore(dialect, async ({ tenantSecretUses, retention }) => {
      await tenantSecretUses.note([use("old")], day(1));
      await tenantSecretUses.note([use("young")], day(2));
      const now = new Date(day(2).getTime() + 90 * 86_400_000);
      expect(await retention.sweep({ callbacks: day(1), refusedRowsKept: 1, now })).toMatchObject({
        stale: 1,
      });
      const left = await tenantSecretUses.list({ source: "shops" }, { limit: 9 });
      expect(left.map(({ tenant }) => tenant)).toEqual(["young"]);
    }));

  it("a receiver notes each secret of a tenant once in ten minutes, however many callbacks arrive", () =>
    withStore(dialect, async (store, target) => {
      let now = day(1);
      const clock = { now: () => now };
      const tenantSources = new Set(["shops"]);
      const note = await createUseRecorder({ secrets: () => [], tenantSources, store, clock, log: recordedLog() });
      const listed = () => store.tenantSecretUses.list({ source: "shops" }, { limit: 9 });
      const arrive = () => {
        for (let index = 0; index < 1_000; index += 1)
          note("shops", { method: "hmac", index: index % 2 }, `shop-${index % 4}`);
      };
      note("shops", { method: "hmac", index: 0 });
      note("others", { method: "hmac", index: 0 }, "acme");
      arrive();
      await until(async () => (await listed()).length === 4);
      now = new Date(day(1).getTime() + 599_999);
      arrive();
      now = new Date(day(1).getTime() + 600_000);
      arrive();
      const isLater = (at: string | null) => at === null || at === now.toISOString();
      await until(async () =>
        (await listed()).every((one) => isLater(one.currentUsedAt) && isLater(one.previousUsedAt)),
      );
      expect(await countOf(target, "oncehook_tenant_secret_uses")).toBe(4);
    }));
});

describe.each(DIALECTS)("the tenants of secrets on %s", (dialect) => {
  const claim = { source: "shops", fingerprint: "f1", tenant: "acme" };

  it("the first tenant that claims a secret has it, for each source apart", () =>
    withStore(dialect, async ({ tenantSecrets }) => {
      expect(await tenantSecrets.claim(claim, day(1))).toBe("acme");
      expect(await tenantSecrets.claim({ ...claim, tenant: "bolt" }, day(3))).toBe("acme");
      expect(await tenantSecrets.claim({ ...claim, tenant: "bolt", source: "others" }, day(3))).toBe("bolt");
      expect(await tenantSecrets.claim({ ...claim, tenant: "bolt", fingerprint: "f2" }, day(3))).toBe("bolt");
    }));

  it("a secret moves from the tenant that has lost it, and from no other one", () =>
    withStore(dialect, async ({ tenantSecrets }) => {
      await tenantSecrets.claim(claim, day(1));
      expect(await tenantSecrets.claim({ ...claim, tenant: "bolt", lostBy: "acme" }, day(1))).toBe("bolt");
      expect(await tenantSecrets.claim({ ...claim, tenant: "coil", lostBy: "acme" }, day(1))).toBe("bolt");
      expect(await tenantSecrets.claim(claim, day(1))).toBe("bolt");
    }));

  it("the retention job deletes a claim that was not repeated for 90 days", () =>
    withStore(dialect, async ({ tenantSecrets, retention }, target) => {
      await tenantSecrets.claim(claim, day(1));
      await tenantSecrets.claim({ ...claim, fingerprint: "f2" }, day(1));
      await tenantSecrets.claim({ ...claim, tenant: "bolt" }, day(3));
      const now = new Date(day(2).getTime() + 90 * 86_400_000);
      await retention.sweep({ callbacks: day(1), refusedRowsKept: 1, now });
      expect(await countOf(target, "oncehook_tenant_secrets")).toBe(1);
      expect(await countOf(target, "oncehook_tenant_secrets", "fingerprint = 'f1'")).toBe(1);
    }));
});
