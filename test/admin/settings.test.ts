import { expect, it } from "vitest";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { conforms } from "../support/openapi.ts";
import { payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { SECRET, TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const VIEWER = "a-token-for-those-who-may-look";
const SECRETS = {
  ADMIN_VIEWER_TOKEN: VIEWER,
  NOTIFY_WEBHOOK_URL: "http://127.0.0.1:9/hooks/the-path-that-is-a-secret",
  NOTIFY_WEBHOOK_SECRET: "whsec_dGhlLXNlY3JldC1vZi10aGUtd2ViaG9vay1vZi10ZXN0cw==",
  ALERT_SLACK_URL: "http://127.0.0.1:9/services/the-part-that-is-a-secret",
};
const READ = ["configuration", "checks", "storage", "background"] as const;
const client = ({ adminOrigin }: TestReceiver, token = TOKEN) => createAdminClient({ origin: adminOrigin, token });

describeFullOnPostgres("the settings on %s", (dialect) => {
  it("no configured secret is in an answer of the settings, neither before nor after the checks have run", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const run = await receiver.admin("/api/v1/checks", { method: "POST" });
        conforms("/api/v1/checks", "post", run);
        let text = JSON.stringify(run.body);
        for (const name of READ) {
          const answer = await receiver.admin(`/api/v1/${name}`);
          conforms(`/api/v1/${name}`, "get", answer);
          text += JSON.stringify(answer.body);
        }
        const password = `:${new URL(receiver.target.url).password || "no password"}@`;
        const hidden = [SECRET, TOKEN, VIEWER, "the-path-that", "the-part-that", "whsec_", "dGhlLXNl", password];
        expect(hidden.filter((secret) => text.includes(secret))).toEqual([]);
        expect(text).toContain("ALERT_SLACK_URL");
      },
      { env: SECRETS, sources: { billing: stripe({ secret: "whsec_of-a-source-of-the-file" }) } },
    ));

  it("the configuration has each value with where it comes from", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const { environment, values } = await client(receiver).configuration();
        const of = (name: string) => values.find((one) => one.name === name);
        expect(environment).toBe("test");
        expect(of("RETRY_MAX")).toMatchObject({ value: "7", origin: "environment", is_secret: false });
        expect(of("LOG_LEVEL")).toMatchObject({ value: "info", origin: "default" });
        expect(of("SIGNING_SECRET")).toMatchObject({ value: null, origin: "environment", is_secret: true });
        expect(of("sources.billing.keep")).toMatchObject({ value: "90d", origin: "code" });
      },
      { env: { RETRY_MAX: "7" }, sources: { billing: stripe({ secret: "whsec_of-a-source", keep: "90d" }) } },
    ));

  it("the checks are those of doctor, run by an operator only, audited, and shown to viewers", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const viewer = client(receiver, VIEWER);
        expect(await viewer.checks.last()).toEqual({ ran_at: null, ran_by: null, findings: [] });
        await expect(viewer.checks.run()).rejects.toMatchObject({ status: 403 });
        const [one, other] = await Promise.all([client(receiver).checks.run(), client(receiver).checks.run()]);
        expect(one.findings).toContainEqual(expect.objectContaining({ level: "ok", check: "database" }));
        expect(one.findings.some(({ check }) => check === "environments")).toBe(false);
        expect(other.findings).toEqual(one.findings);
        expect(await viewer.checks.last()).toMatchObject({ ran_by: "token", findings: one.findings });
        const { items } = await client(receiver).audit.list({ action: "checks.run" });
        expect(items.map(({ role, outcome }) => `${role} ${outcome}`).toSorted()).toEqual([
          ...["operator done", "operator done", "viewer refused"],
        ]);
      },
      { env: { ADMIN_VIEWER_TOKEN: VIEWER } },
    ));

  it("storage has the rows and bytes of each area, and how long each source keeps originals", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(payment());
        const { database, areas, retention } = await client(receiver).storage();
        expect(database).toBe(dialect);
        expect(areas.find(({ area }) => area === "records")?.rows).toBeGreaterThanOrEqual(dialect === "sqlite" ? 1 : 0);
        expect(retention).toMatchObject({ callbacks_ms: 30 * 86_400_000, records_ms: 90 * 86_400_000 });
        expect(retention.originals).toEqual([
          { source: "platform", keep_ms: 12 * 3_600_000 },
          { source: "billing", keep_ms: 0 },
        ]);
      },
      {
        env: { KEEP_ORIGINALS: "12h", RECORD_RETENTION_DAYS: "90" },
        sources: { billing: stripe({ secret: "whsec_of-a-source", keep: "0" }) },
      },
    ));

  it("background work has its last and its next round, and what nothing asks for is off", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const { background } = client(receiver);
        const of = async (name: string) => (await background()).items.find((one) => one.name === name);
        await until(async () => (await of("retries"))?.last_started_at !== null);
        const retries = await of("retries");
        expect(retries).toMatchObject({ every_ms: 20, last_failed: false });
        await until(async () => (await of("retention"))?.state === "waiting");
        const retention = await of("retention");
        const ahead = Date.parse(retention?.next_at ?? "") - Date.parse(retention?.last_started_at ?? "");
        expect(ahead).toBeGreaterThanOrEqual(3_600_000);
        expect(await of("alerts")).toMatchObject({ state: "off", every_ms: null, next_at: null });
        expect(await of("reencryption")).toBeUndefined();
      },
      { retryPollMs: 20 },
    ));
});
