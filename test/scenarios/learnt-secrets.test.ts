import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { type HmacSourceOptions, hmac } from "../../src/sources/platforms/index.ts";
import { runCommandLine } from "../support/command.ts";
import { type Dialect, describeFullOnPostgres, withMigrated } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { type ReceiverOptions, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { until } from "../support/until.ts";
import { wholeCallbacks } from "../support/whole-callbacks.ts";

/** As Asana does it: the secret comes in a header, and is sent back in one. */
const options: Omit<HmacSourceOptions, "secret"> = {
  signature: { header: "X-Hook-Signature", encoding: "hex" },
  signed: "{body}",
  id: "body.id",
  type: "body.type",
  handshakes: [
    {
      isSigned: false,
      when: { "header.X-Hook-Secret": true },
      without: "X-Hook-Signature",
      reply: { kind: "learn", at: "header.X-Hook-Secret", header: "X-Hook-Secret" },
    },
  ],
};
const source = (secret?: string) => hmac({ ...options, secret });
const handlers = [defineHandler({ source: "tasks", type: "task", data: z.looseObject({}), handle: () => ({}) })];
const learning: ReceiverOptions = { sources: { tasks: source() }, handlers };

/** For a receiver behind a proxy. */
const HTTPS = { "x-forwarded-proto": "https" };

async function introduce(receiver: TestReceiver, secret: string, more: Record<string, string> = {}) {
  const url = `${receiver.publicOrigin}/api/tasks/callback`;
  const response = await fetch(url, { method: "POST", headers: { "x-hook-secret": secret, ...more } });
  await response.arrayBuffer();
  return { status: response.status, echoed: response.headers.get("x-hook-secret") };
}

let events = 0;

async function callBack(receiver: TestReceiver, secret: string): Promise<number> {
  events += 1;
  const body = Buffer.from(JSON.stringify({ id: `e${events}`, type: "task" }));
  const headers = { ...HTTPS, ...source(secret).sign?.({ body, now: new Date() }) };
  const url = `${receiver.publicOrigin}/api/tasks/callback`;
  const response = await fetch(url, { method: "POST", body, headers });
  await response.arrayBuffer();
  return response.status;
}

const relearn = (receiver: TestReceiver, body: object = {}, name = "tasks") =>
  receiver.admin(`/api/v1/sources/${name}/relearn`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

interface Offered {
  readonly fingerprint: string;
  readonly address: string;
  readonly count: number;
  readonly verifies: boolean;
}

async function offeredBy(receiver: TestReceiver): Promise<readonly Offered[]> {
  const { body } = await receiver.admin("/api/v1/sources");
  const { items } = body as unknown as { items: { source: string; offered_secrets: Offered[] }[] };
  return items.find(({ source }) => source === "tasks")?.offered_secrets ?? [];
}

async function withTwo(
  dialect: Dialect,
  use: (one: TestReceiver, other: TestReceiver) => Promise<void>,
  more: ReceiverOptions = {},
): Promise<void> {
  await withMigrated(dialect, async (target) => {
    const one = await startReceiver(target, { ...learning, ...more });
    const other = await startReceiver(target, { ...learning, ...more });
    try {
      await use(one, other);
    } finally {
      await Promise.all([one.stop(), other.stop()]);
    }
  });
}

describeFullOnPostgres("a platform that chooses its secret, on %s", (dialect) => {
  it("the first secret that is sent verifies from then on, and after a restart", () =>
    withMigrated(dialect, async (target) => {
      const first = await startReceiver(target, learning);
      expect(await callBack(first, "not known yet")).toBe(401);
      expect(await introduce(first, "chosen-by-asana")).toEqual({ status: 200, echoed: "chosen-by-asana" });
      expect(await callBack(first, "chosen-by-asana")).toBe(200);
      expect(await callBack(first, "another-secret")).toBe(401);
      await first.stop();
      const second = await startReceiver(target, learning);
      expect(await callBack(second, "chosen-by-asana")).toBe(200);
      await second.stop();
    }));

  it("another secret is refused once one is known, and the same one is answered again", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await introduce(receiver, "chosen-by-asana");
        expect(await introduce(receiver, "chosen-by-a-stranger")).toEqual({ status: 400, echoed: null });
        expect(await callBack(receiver, "chosen-by-a-stranger")).toBe(401);
        expect(await introduce(receiver, "chosen-by-asana")).toMatchObject({ status: 200 });
        expect(await receiver.count("oncehook_source_secrets")).toBe(1);
      },
      learning,
    ));

  it("a source whose secrets were forgotten is open after a start, however long ago that was", () =>
    withMigrated(dialect, async (target) => {
      const first = await startReceiver(target, learning);
      await introduce(first, "the-first-one");
      await relearn(first, { forget: true });
      await first.stop();
      const later = { now: () => new Date(Date.now() + 3_600_000) };
      const second = await startReceiver(target, { ...learning, clock: later });
      expect(await introduce(second, "the-second-one")).toMatchObject({ status: 200 });
      expect(await introduce(second, "the-third-one")).toMatchObject({ status: 400 });
      await second.stop();
    }));

  it("no secret is taken where one is configured", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect(await introduce(receiver, "chosen-by-a-stranger")).toMatchObject({ status: 400 });
        expect(await callBack(receiver, "the configured one")).toBe(200);
      },
      { sources: { tasks: source("the configured one") }, handlers },
    ));

  it("one of several secrets that come at once is kept", () =>
    withTwo(dialect, async (one, other) => {
      const sent = Array.from({ length: 8 }, (_, at) => introduce(at % 2 ? one : other, `secret-${at}`));
      const statuses = (await Promise.all(sent)).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
      expect(await one.count("oncehook_source_secrets")).toBe(1);
    }));

  it("a secret that one process learns verifies in another one at once", () =>
    withTwo(dialect, async (one, other) => {
      await introduce(one, "chosen-by-asana");
      expect(await callBack(other, "chosen-by-asana")).toBe(200);
      expect(await introduce(other, "chosen-by-a-stranger")).toMatchObject({ status: 400 });
    }));

  it("sources relearn opens a source for one more secret, and both verify", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await introduce(receiver, "the-first-one");
        const { status, body } = await relearn(receiver);
        expect(status).toBe(200);
        const { until: end } = body as { until: string };
        expect(Date.parse(end) - Date.now()).toBeGreaterThan(14 * 60_000);
        expect(await introduce(receiver, "the-second-one")).toMatchObject({ status: 200 });
        expect(await introduce(receiver, "the-third-one")).toMatchObject({ status: 400 });
        expect(await callBack(receiver, "the-first-one")).toBe(200);
        expect(await callBack(receiver, "the-second-one")).toBe(200);
      },
      learning,
    ));

  it("a relearn from an address takes no secret of another one, and the log has each with its address", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const [first, forger, right] = ["first", "forger", "right"].map(
          (name) => name + randomBytes(8).toString("hex"),
        );
        const by = (secret = "", address = "") => introduce(receiver, secret, { "x-forwarded-for": address, ...HTTPS });
        expect(await by(first, "192.0.2.7")).toMatchObject({ status: 200 });
        expect(await relearn(receiver, { forget: true, from: "192.0.2.0/28" })).toMatchObject({
          status: 200,
        });
        expect(await by(forger, "198.51.100.9")).toMatchObject({ status: 400 });
        expect(await callBack(receiver, forger ?? "")).toBe(401);
        expect(await by(right, "192.0.2.8")).toMatchObject({ status: 200, echoed: right });
        expect(await callBack(receiver, right ?? "")).toBe(200);
        expect(await callBack(receiver, first ?? "")).toBe(401);
        const logged = receiver.lines.filter(({ fingerprint }) => fingerprint !== undefined);
        expect(logged).toMatchObject([
          { address: "192.0.2.7", msg: expect.stringContaining("verifies its callbacks") },
          {
            address: "198.51.100.9",
            level: 40,
            msg: expect.stringContaining("sources relearn --forget --from"),
          },
          { address: "192.0.2.8", msg: expect.stringContaining("verifies its callbacks") },
        ]);
        expect(new Set(logged.map(({ fingerprint }) => fingerprint)).size).toBe(3);
        for (const from of ["nowhere", "192.0.2.0/33", "999.1.1.1", ""])
          expect(await relearn(receiver, { from })).toMatchObject({ status: 400 });
      },
      { ...learning, env: { TRUST_PROXY: "127.0.0.1/32" } },
    ));

  it(
    "the operator chooses one of several secrets that were sent by its fingerprint, on any process",
    { tags: "full" },
    () =>
      withTwo(dialect, async (one, other) => {
        await introduce(one, "the-forged-one");
        expect(await introduce(one, "the-genuine-one")).toMatchObject({ status: 400 });
        await introduce(other, "the-genuine-one");
        const offered = await offeredBy(other);
        expect(offered).toMatchObject([
          { address: "127.0.0.1", count: 1, verifies: true },
          { address: "127.0.0.1", count: 2, verifies: false },
        ]);
        const { status, body } = await relearn(other, { forget: true, fingerprint: offered[1]?.fingerprint });
        expect([status, body]).toMatchObject([200, { until: null, offered_secrets: [{}, { verifies: true }] }]);
        // Another process looks once a second at most.
        await until(async () => (await callBack(one, "the-genuine-one")) === 200);
        expect(await callBack(other, "the-forged-one")).toBe(401);
        expect(await relearn(one, { fingerprint: "0".repeat(12) })).toMatchObject({ status: 404 });
        const several = {
          source: "tasks",
          offered: 2,
          msg: expect.stringContaining("several secrets were sent"),
        };
        expect(one.lines).toContainEqual(expect.objectContaining(several));
        expect(JSON.stringify([body, offered, one.lines, other.lines])).not.toContain('-one"');
        const [stored] = await rowsOf(one.target, "SELECT value FROM oncehook_settings WHERE name = 'offered:tasks'");
        expect(stored?.value).not.toContain("genuine");
      }),
  );

  it("each secret is answered with choose and none verifies, until the operator chooses one", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await introduce(receiver, "the-former-one");
        expect(await relearn(receiver, { choose: true })).toMatchObject({ status: 200 });
        for (const secret of ["flooded-1", "the-genuine-one", "flooded-2"])
          expect(await introduce(receiver, secret)).toEqual({ status: 200, echoed: secret });
        expect(await callBack(receiver, "the-genuine-one")).toBe(401);
        expect(await callBack(receiver, "the-former-one")).toBe(200);
        const { fingerprint } = (await offeredBy(receiver))[2] ?? {};
        expect(await relearn(receiver, { forget: true, fingerprint })).toMatchObject({ status: 200 });
        expect(await callBack(receiver, "the-genuine-one")).toBe(200);
        for (const secret of ["flooded-1", "flooded-2", "the-former-one"])
          expect(await callBack(receiver, secret)).toBe(401);
        expect(await introduce(receiver, "a-late-one")).toMatchObject({ status: 400 });
      },
      learning,
    ));

  it("a flood of secrets from one address leaves those of others in the list, which is bounded", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const by = (secret: string, address: string) =>
          introduce(receiver, secret, { "x-forwarded-for": address, ...HTTPS });
        await by("the-genuine-one", "192.0.2.7");
        for (let at = 0; at < 30; at += 1) await by(`flood-${at}`, `198.51.100.${at % 2}`);
        await by("x".repeat(2_000), "192.0.2.9");
        const offered = await offeredBy(receiver);
        expect(offered).toHaveLength(20);
        expect(offered.map(({ address }) => address)).toContain("192.0.2.7");
        expect(offered.map(({ address }) => address)).not.toContain("192.0.2.9");
      },
      { ...learning, env: { TRUST_PROXY: "127.0.0.1/32" } },
    ));

  it("relearning with forget ends the secrets before it, in every process", () =>
    withTwo(
      dialect,
      async (one, other) => {
        await introduce(one, "leaked-to-somebody");
        expect(await callBack(other, "leaked-to-somebody")).toBe(200);
        await relearn(one, { forget: true });
        expect(await callBack(one, "leaked-to-somebody")).toBe(401);
        await until(async () => (await callBack(other, "leaked-to-somebody")) === 401);
        await introduce(one, "the-new-one");
        expect(await callBack(one, "the-new-one")).toBe(200);
      },
      { secretPollMs: 50 },
    ));

  it("a learnt secret is encrypted, and readable after a rotation of ENCRYPTION_KEY", () =>
    withMigrated(dialect, async (target) => {
      const [oldKey, newKey] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
      const before = await startReceiver(target, { ...learning, env: { ENCRYPTION_KEY: oldKey } });
      await introduce(before, "chosen-by-asana");
      await before.stop();
      const [stored] = await rowsOf(target, "SELECT encrypted_secret FROM oncehook_source_secrets");
      expect(Buffer.from(stored?.encrypted_secret as Uint8Array).includes("chosen-by-asana")).toBe(false);
      const both = { ENCRYPTION_KEY: newKey, ENCRYPTION_KEY_PREVIOUS: oldKey };
      const rotating = await startReceiver(target, { ...learning, env: both });
      await until(() => rotating.lines.some(({ reencrypted }) => reencrypted === 1));
      await rotating.stop();
      const after = await startReceiver(target, { ...learning, env: { ENCRYPTION_KEY: newKey } });
      expect(await callBack(after, "chosen-by-asana")).toBe(200);
      await after.stop();
    }));
});

describe("sources that learn", () => {
  it("relearn answers 404 for a source that does not exist, and 409 for one whose platform chooses no secret", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        expect((await relearn(receiver, {}, "nobody")).status).toBe(404);
        expect((await relearn(receiver, {}, "platform")).status).toBe(409);
        expect((await relearn(receiver, {}, "tasks")).status).toBe(200);
      },
      learning,
    ));

  it("forged signatures make a receiver look for secrets once a second at most", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        await introduce(receiver, "chosen-by-asana");
        const statuses = await Promise.all(Array.from({ length: 40 }, (_, at) => callBack(receiver, `forged-${at}`)));
        expect(new Set(statuses)).toEqual(new Set([401]));
        expect(await callBack(receiver, "chosen-by-asana")).toBe(200);
      },
      learning,
    ));

  it("a secret that cannot be the key is refused, and leaves the source open for one that can", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        expect(await introduce(receiver, "no-hexadecimal")).toMatchObject({ status: 400 });
        expect(await introduce(receiver, "c0ffee")).toMatchObject({ status: 200 });
      },
      { sources: { tasks: hmac({ ...options, key: "hex", secret: undefined }) }, handlers },
    ));

  it("oncehook sources relearn opens a source, and says until when", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        await introduce(receiver, "the-first-one");
        const ended = await runCommandLine(["sources", "relearn", "tasks", "--forget"], {
          ...CHILD_ENVIRONMENT,
          ADMIN_PORT: new URL(receiver.adminOrigin).port,
        });
        expect(ended).toMatchObject({ code: 0, stderr: "" });
        expect(ended.stdout).toMatch(/^tasks takes one secret until \S+Z; no earlier one verifies any more\./);
        expect(await introduce(receiver, "the-second-one")).toMatchObject({ status: 200 });
      },
      learning,
    ));

  it("oncehook sources lists the secrets that were sent, and relearn takes one by its fingerprint", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        await introduce(receiver, "the-forged-one");
        await introduce(receiver, "the-genuine-one");
        const run = (...args: string[]) =>
          runCommandLine(["sources", ...args], {
            ...CHILD_ENVIRONMENT,
            ADMIN_PORT: new URL(receiver.adminOrigin).port,
          });
        const fingerprint = (await offeredBy(receiver))[1]?.fingerprint ?? "";
        expect((await run()).stdout).toMatch(new RegExp(`${fingerprint} +127\\.0\\.0\\.1 +1 +\\S+ +no`));
        const opened = await run("relearn", "tasks", "--choose");
        expect(opened.stdout).toContain("2 secrets were sent to it in the last day");
        const chosen = await run("relearn", "tasks", "--forget", "--fingerprint", fingerprint);
        expect(chosen).toMatchObject({
          code: 0,
          stdout: expect.stringContaining(`the secret ${fingerprint} verifies`),
        });
        expect(await callBack(receiver, "the-genuine-one")).toBe(200);
        const both = await run("relearn", "tasks", "--choose", "--fingerprint", fingerprint);
        expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("fingerprint: ") });
      },
      learning,
    ));

  it("no log shows a secret that was just sent", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        await introduce(receiver, "chosen-by-asana");
        await introduce(receiver, "chosen-by-a-stranger");
        const list = () => wholeCallbacks(receiver);
        await until(async () => (await list()).length === 2);
        expect(JSON.stringify(await list())).not.toContain("chosen-by");
        expect(JSON.stringify(receiver.lines)).not.toContain("chosen-by");
      },
      learning,
    ));

  it("an error that quotes a secret which was learnt after the start shows none of it in the failures and the log", () => {
    const quoting = defineHandler({
      source: "tasks",
      type: "task",
      data: z.looseObject({}),
      handle({ log }) {
        const error = new Error("the other side does not know chosen-by-asana");
        log.warn({ err: error }, "the handler fails");
        throw error;
      },
    });
    return withReceiver(
      "sqlite",
      async (receiver) => {
        await introduce(receiver, "chosen-by-asana");
        expect(await callBack(receiver, "chosen-by-asana")).toBe(500);
        const { body } = await receiver.admin("/api/v1/failures");
        const [failure] = (body as unknown as { items: { error: string }[] }).items;
        expect(failure?.error).toContain("the other side does not know [masked]");
        const line = receiver.lines.find(({ msg }) => msg === "the handler fails");
        expect(line?.err).toMatchObject({ message: "the other side does not know [masked]" });
        expect(JSON.stringify(receiver.lines)).not.toContain("chosen-by");
      },
      { ...learning, handlers: [quoting] },
    );
  });

  it("a start without any secret says that the first one will be taken", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        expect(receiver.lines.map(({ msg }) => msg)).toContain(
          "the source has no secret yet: it takes the first one that is sent to it",
        );
      },
      learning,
    ));
});
