import { expect, it } from "vitest";
import { evaluateAlerts } from "../../src/alerts/evaluate-alerts.ts";
import { keyStamp } from "../../src/configured/database.ts";
import { hmac } from "../../src/sources/platforms/index.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { checkDatabase } from "../support/check-database.ts";
import { DIALECTS, describeFullOnPostgres, openTarget, withDatabase } from "../support/databases.ts";
import { startReceiver, type TestReceiver, testConfig, withReceiver } from "../support/receiver.ts";

const MINUTE = 60_000;

interface Counts {
  readonly authentic: number;
  readonly refused: number;
}

/** @param before in the day that ended an hour ago @param last in the last hour */
type History = readonly [before: Counts, last: Counts];

const DEAD: History = [
  { authentic: 5_702, refused: 0 },
  { authentic: 0, refused: 137 },
];

const NOT_DEAD: readonly (readonly [string, History])[] = [
  ["one of its callbacks is authentic", [DEAD[0], { authentic: 1, refused: 137 }]],
  ["9 callbacks are refused", [DEAD[0], { authentic: 0, refused: 9 }]],
  ["29 were authentic before", [{ authentic: 29, refused: 0 }, DEAD[1]]],
  ["one in nine was refused before", [{ authentic: 900, refused: 101 }, DEAD[1]]],
];

it.each(DIALECTS)("a source of which all callbacks are refused for an hour is named within a minute: %s", (dialect) =>
  withDatabase(dialect, async (target) => {
    const config = testConfig(target);
    const stamp = { environment: config.environment, keys: keyStamp(config) };
    const { store } = await openTarget(target, { stamp });
    const now = new Date();
    const add = async (source: string, [before, last]: History) => {
      const at = (minutes: number) => new Date(now.getTime() - minutes * MINUTE);
      const count = (outcome: string, number: number) => ({ source, outcome, bucket: 0, count: number });
      const counts = ({ authentic, refused }: Counts) =>
        [count("success", authentic), count("signature_mismatch", refused)].filter((one) => one.count > 0);
      await store.rollups.add(at(120), counts(before));
      await store.rollups.add(at(55), counts(last));
    };
    await add("github", DEAD);
    for (const [index, [, history]] of NOT_DEAD.entries()) await add(`s${index}`, history);
    const since = new Date(Math.floor((now.getTime() - 120 * MINUTE) / MINUTE) * MINUTE).toISOString();
    const refusedAt = now.getTime() - 55 * MINUTE;
    const firstSeen = new Date(refusedAt - (refusedAt % (15 * MINUTE))).toISOString();
    const title =
      "github: 137 callbacks refused (signature_mismatch), none authentic; in the day before that 5702 of 5702 were";
    const last = `${since.slice(0, 16).replace("T", " ")} UTC`;
    const message = `${title}. The last authentic one came at ${last}. Compare its secret with the platform's.`;
    expect(await store.refusedSources.list(now)).toMatchObject([
      { source: "github", count: 137, since, firstSeen, title, message },
    ]);

    const { refusedSources } = store;
    const deps = { store: store.alerts, refusedSources, kinds: new Set(["signatures"] as const), isSameQuarter: true };
    const rest = {
      acceptedLimitMs: 1,
      silenceFloor: 1,
      isHandled: () => true,
      clock: { now: () => now },
      log: recordedLog(),
    };
    // A muted source starts no alert until its mute ends.
    const problem = (await store.problems.list(now)).problems.find(({ kind }) => kind === "refusal");
    const id = problem?.id ?? "";
    const until = new Date(now.getTime() + 1_000);
    await store.problemStates.mute(id, { until, by: "ana@example.com", reason: "known" });
    await evaluateAlerts({ ...deps, ...rest }, "signatures", now, now);
    expect([problem?.source, await store.alerts.list()]).toEqual(["github", []]);
    await evaluateAlerts({ ...deps, ...rest }, "signatures", until, now);
    await evaluateAlerts({ ...deps, ...rest }, "signatures", until, now);
    expect((await store.alerts.list()).map(({ source, number, isOpen }) => [source, number, isOpen])).toEqual([
      ["github", 1, true],
    ]);
    await store.problemStates.mute(id, undefined);
    await store.close();
    const receiver = await startReceiver(target, { clock: { now: () => now } });
    const overview = await receiver.admin("/api/v1/overview");
    expect(JSON.stringify(overview)).toContain(message);
    await receiver.stop();
    const findings = await checkDatabase(testConfig(target), [], now);
    expect(findings.filter(({ check }) => check === "refused")).toEqual([
      { level: "warning", check: "refused", message, remedy: "Compare its secret with the platform's." },
    ]);
  }),
);

const SHOP = { signature: { header: "X-Signature", encoding: "hex" }, signed: "{body}" } as const;
const shop = (secret: string) => hmac({ ...SHOP, secret, id: "body.id", type: "body.type" });
const PLATFORM = "203.0.113.7";

describeFullOnPostgres("refused callbacks on %s", (dialect) => {
  const withShop = (use: (receiver: TestReceiver, send: Send, clock: { now: Date }) => Promise<void>) => {
    // Doctor reads the clock of the machine.
    const clock = { now: new Date(Math.floor(Date.now() / MINUTE) * MINUTE) };
    const sources = { shop: shop("the secret of the shop") };
    const options = { env: { TRUST_PROXY: "127.0.0.1" }, sources, clock: { now: () => clock.now } };
    let events = 0;
    return withReceiver(
      dialect,
      (receiver) => {
        const send: Send = async (count, { secret, from }) => {
          for (let sent = 0; sent < count; sent += 1) {
            events += 1;
            const body = Buffer.from(JSON.stringify({ id: `e${events}`, type: "order" }));
            const signature = shop(secret).sign?.({ body, now: clock.now })["X-Signature"] ?? "";
            const headers = { "x-signature": signature, "x-forwarded-for": from, "x-forwarded-proto": "https" };
            await fetch(`${receiver.publicOrigin}/api/shop/callback`, { method: "POST", body, headers });
          }
          // Stores the counts and the rows of the log.
          await receiver.admin("/api/v1/overview");
          await receiver.admin("/api/v1/callbacks");
        };
        return use(receiver, send, clock);
      },
      options,
    );
  };
  const good = { secret: "the secret of the shop", from: PLATFORM };
  const refusedOf = async (receiver: TestReceiver) => {
    const overview = (await receiver.admin("/api/v1/overview")).body as { needs_attention: { kind: string }[] };
    return overview.needs_attention.filter(({ kind }) => kind === "refused_source");
  };

  it("20 wrong signatures after 5 authentic callbacks of the minute are named at once, with count, since and remedy", () =>
    withShop(async (receiver, send, clock) => {
      await send(5, good);
      const since = clock.now.toISOString().slice(0, 16).replace("T", " ");
      clock.now = new Date(clock.now.getTime() + 10_000);
      await send(20, { secret: "another secret", from: PLATFORM });
      const message = expect.stringMatching(
        `^shop: 20 callbacks refused \\(signature_mismatch\\), none authentic; .*\\. The last authentic one came at ${since} UTC\\. Compare `,
      );
      expect(await refusedOf(receiver)).toEqual([{ kind: "refused_source", count: 20, message }]);
      const config = testConfig(receiver.target);
      expect(await checkDatabase(config, [], clock.now)).toContainEqual({
        level: "warning",
        check: "refused",
        message,
        remedy: expect.stringMatching(/^Compare the secret of source shop /),
      });
    }));

  it("a problem of refused callbacks has the exact times of the first and the last of them, as the log has them", () =>
    withShop(async (receiver, send, clock) => {
      await send(5, good);
      const [since, first, last] = [0, 10_250, 21_500].map((ms) => new Date(clock.now.getTime() + ms)) as Three;
      for (const [at, count] of [
        [first, 1],
        [last, 19],
      ] as const) {
        clock.now = at;
        await send(count, { secret: "another secret", from: PLATFORM });
      }
      const { items } = (await receiver.admin("/api/v1/problems")).body as { items: object[] };
      const times = { since: since.toISOString(), first_seen: first.toISOString(), last_seen: last.toISOString() };
      expect(items).toMatchObject([{ kind: "refusal", source: "shop", count: 20, ...times }]);
    }));

  it("20 forged callbacks from one address beside authentic ones of a platform are no problem", () =>
    withShop(async (receiver, send, clock) => {
      await send(5, good);
      await send(20, { secret: "another secret", from: "198.51.100.9" });
      expect(await refusedOf(receiver)).toEqual([]);
      expect((await receiver.admin("/api/v1/problems")).body.items).toEqual([]);
      const findings = await checkDatabase(testConfig(receiver.target), [], clock.now);
      expect(findings.filter(({ check }) => check === "refused")).toEqual([]);
      await send(1, good);
      expect(await refusedOf(receiver)).toEqual([]);
    }));

  it("an authentic callback ends what was refused before it", () =>
    withShop(async (receiver, send) => {
      await send(5, good);
      await send(20, { secret: "another secret", from: PLATFORM });
      await send(1, good);
      expect(await refusedOf(receiver)).toEqual([]);
    }));
});

type Send = (count: number, how: { readonly secret: string; readonly from: string }) => Promise<void>;
type Three = [since: Date, first: Date, last: Date];
