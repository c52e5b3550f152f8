import { describe, expect, it } from "vitest";
import { describeFullOnPostgres } from "../support/databases.ts";
import { conforms } from "../support/openapi.ts";
import { OwnPage } from "../support/own-page.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const SESSION = "/api/v1/session";
const BEHIND = { env: { TRUST_PROXY: "127.0.0.1" } };

/** Asks with a token from an address, by way of the trusted proxy. */
async function statusOf(receiver: TestReceiver, token: string, address = "192.0.2.1"): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": address };
  return (await receiver.admin(SESSION, { headers })).status;
}

async function guess(receiver: TestReceiver, count: number, address?: string): Promise<number[]> {
  const answers: number[] = [];
  for (let at = 0; at < count; at += 1)
    answers.push(await statusOf(receiver, `guess-number-${at}-${address}`, address));
  return answers;
}

describe("wrong tokens", () => {
  it("ten wrong tokens a minute lock an address out, even with the right token", () => {
    const time = { offset: 0 };
    const clock = { now: () => new Date(Date.now() + time.offset) };
    return withReceiver(
      "sqlite",
      async (receiver) => {
        expect(new Set(await guess(receiver, 10))).toEqual(new Set([401]));
        const headers = { authorization: `Bearer ${TOKEN}`, "x-forwarded-for": "192.0.2.1" };
        const answer = await receiver.admin(SESSION, { headers });
        conforms(SESSION, "get", answer);
        expect([answer.status, Number(answer.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
        expect(Number(answer.headers.get("retry-after"))).toBeLessThanOrEqual(60);
        const page = new OwnPage(receiver.adminOrigin);
        const begun = await page.ask("POST", SESSION, {
          body: { token: TOKEN },
          headers: { "x-forwarded-for": "192.0.2.1" },
        });
        conforms(SESSION, "post", begun);
        expect([begun.status, begun.headers.get("set-cookie")]).toEqual([429, null]);
        expect(begun.headers.get("retry-after")).not.toBeNull();
        expect(await statusOf(receiver, TOKEN, "192.0.2.2")).toBe(200);
        time.offset = 61_000;
        expect(await statusOf(receiver, TOKEN)).toBe(200);
      },
      { ...BEHIND, clock },
    );
  });

  it("a lock after wrong tokens lasts no longer because the clock was set back", () => {
    const time = { offset: 0 };
    const clock = { now: () => new Date(Date.now() + time.offset) };
    return withReceiver(
      "sqlite",
      async (receiver) => {
        await guess(receiver, 10);
        expect(await statusOf(receiver, TOKEN)).toBe(429);
        time.offset = -21_600_000;
        expect(await statusOf(receiver, TOKEN)).toBe(200);
      },
      { ...BEHIND, clock },
    );
  });

  it("wrong tokens count together in the page and in the header, and for an IPv6 address by its /64", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        await guess(receiver, 9, "2001:db8::1");
        const page = new OwnPage(receiver.adminOrigin);
        const last = { body: { token: "one-more-guess" }, headers: { "x-forwarded-for": "2001:db8::2" } };
        const answer = await page.ask("POST", SESSION, last);
        conforms(SESSION, "post", answer);
        expect([answer.status, answer.headers.get("set-cookie")]).toEqual([401, null]);
        expect(await statusOf(receiver, TOKEN, "2001:db8::3")).toBe(429);
        expect(await statusOf(receiver, TOKEN, "2001:db8:0:1::3")).toBe(200);
      },
      BEHIND,
    ));

  it("a wrong token counts once, so that a script with an old token locks no operator out", () =>
    withReceiver("sqlite", async (receiver) => {
      for (let turn = 0; turn < 30; turn += 1)
        expect((await receiver.admin(SESSION, { headers: { authorization: "Bearer of-yesterday" } })).status).toBe(401);
      expect((await receiver.admin(SESSION)).status).toBe(200);
    }));

  it("wrong tokens end no session from the same address", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const page = new OwnPage(receiver.adminOrigin);
        const headers = { "x-forwarded-for": "192.0.2.1" };
        await page.ask("POST", SESSION, { body: { token: TOKEN }, headers });
        await guess(receiver, 10);
        expect((await page.ask("GET", SESSION, { headers })).status).toBe(200);
      },
      BEHIND,
    ));
});

describeFullOnPostgres("the audit log on %s", (dialect) => {
  it("the audit log records wrong tokens in bounded number, without what was sent, and counts those it left out", () => {
    const time = { offset: 0 };
    const clock = { now: () => new Date(Date.now() + time.offset) };
    return withReceiver(
      dialect,
      async (receiver) => {
        for (let host = 0; host < 8; host += 1) await guess(receiver, 10, `198.51.100.${host}`);
        const rows = () => receiver.count("oncehook_audit");
        await until(async () => (await rows()) === 60);
        const { body } = await receiver.admin("/api/v1/audit?action=session.refused&limit=1");
        expect(body.items).toMatchObject([
          { actor: null, role: null, detail: { reason: "wrong token" }, outcome: "refused" },
        ]);
        time.offset = 3_601_000;
        await guess(receiver, 1, "203.0.113.9");
        await until(async () => (await rows()) === 61);
        const after = (await receiver.admin("/api/v1/audit?limit=200")).body;
        expect((after.items as object[])[0]).toMatchObject({
          remote_address: "203.0.113.9",
          detail: { reason: "wrong token", left_out_before: 20 },
        });
        expect(JSON.stringify([after, receiver.lines])).not.toContain("guess-number");
      },
      { ...BEHIND, clock },
    );
  });
});
