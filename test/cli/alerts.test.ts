import { expect, it } from "vitest";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { withStoreBeside } from "../support/beside.ts";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { conforms } from "../support/openapi.ts";
import { type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const SINCE = new Date("2026-03-04T12:00:00.000Z");
const KEY = { kind: "failures", source: "stripe", subject: "invoice.paid" } as const;
const MUTE = ["mute", "failures", "stripe", "invoice.paid", "--for", "2h", "--reason", "a handler is being mended"];

/** A receiver with one open alert, and `oncehook alerts` that asks it. */
function withOpenAlert(use: (receiver: TestReceiver, alerts: (...args: string[]) => Promise<Ended>) => Promise<void>) {
  return withReceiver("sqlite", async (receiver) => {
    await withStoreBeside(receiver.target, ({ alerts }) =>
      alerts.change({ ...KEY, from: 0, isOpen: true, since: SINCE, notifiedCount: 3, notifiedAt: SINCE }),
    );
    const ADMIN_PORT = new URL(receiver.adminOrigin).port;
    const env = { ...CHILD_ENVIRONMENT, ADMIN_TOKEN: TOKEN, ADMIN_PORT };
    await use(receiver, (...args) => runCommandLine(["alerts", ...args], env));
  });
}

it("an operator mutes an alert at the command line, sees until when and by whom, and ends the mute", () =>
  withOpenAlert(async (receiver, alerts) => {
    expect((await alerts()).stdout).toMatch(/^failures +stripe +invoice\.paid +open /m);
    const muted = await alerts(...MUTE);
    expect([muted.code, muted.stderr]).toEqual([0, ""]);
    expect(muted.stdout).toMatch(/^the alert on failures of invoice\.paid stripe is muted until 20/);
    const client = createAdminClient({ origin: receiver.adminOrigin, token: TOKEN });
    const [alert] = (await client.alerts.list()).items;
    expect(alert).toMatchObject({
      state: "muted",
      is_open: true,
      muted_by: "token",
      reason: "a handler is being mended",
    });
    const ahead = Date.parse(String(alert?.muted_until)) - Date.now();
    expect(Math.abs(ahead - 2 * 3_600_000)).toBeLessThan(60_000);
    expect((await alerts()).stdout).toMatch(
      / muted (?: +(?:\S+ )?\d\d:\d\d:\d\d){2} +token +a handler is being mended$/m,
    );
    const { alerts: shown, needs_attention } = await client.overview();
    expect([shown.map(({ state }) => state), needs_attention]).toEqual([["muted"], []]);
    expect((await alerts("unmute", ...MUTE.slice(1, 4))).stdout).toContain("is not muted any more");
    const again = await alerts("unmute", ...MUTE.slice(1, 4));
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("this alert is not muted")]);
    const { items } = await client.audit.list();
    expect(items.map(({ action, actor, outcome }) => [action, actor, outcome])).toEqual([
      ["alert.unmute", "token", "refused"],
      ["alert.unmute", "token", "done"],
      ["alert.mute", "token", "done"],
    ]);
    expect(items[2]?.detail).toMatchObject({ ...KEY, reason: "a handler is being mended" });
  }));

it("a mute of an unknown alert, without a reason, or for more than 30 days is refused with what is expected", () =>
  withOpenAlert(async (_receiver, alerts) => {
    const unknown = await alerts(...MUTE.with(2, "github"));
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining("no such alert has ever started; oncehook alerts lists those"),
    ]);
    expect(await alerts(...MUTE.slice(0, -2))).toMatchObject({ code: 2, stderr: expect.stringContaining("--reason") });
    expect(await alerts(...MUTE.with(5, "31d"))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("at most 30 days ahead"),
    });
    expect(await alerts(...MUTE.with(5, "soon"))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Expected a duration such as 30m, 2h or 3d."),
    });
    expect(await alerts(...MUTE.with(1, "noise"))).toMatchObject({ code: 2 });
  }));

it("the admin API's responses about alerts are those that its description has", () =>
  withOpenAlert(async (receiver) => {
    conforms("/api/v1/alerts", "get", await receiver.admin("/api/v1/alerts"));
    const until = new Date(Date.now() + 60_000).toISOString();
    const post = (path: string, body: object) =>
      receiver.admin(`/api/v1/alerts/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    conforms("/api/v1/alerts/mute", "post", await post("mute", { ...KEY, until, reason: "r" }));
    conforms("/api/v1/alerts/unmute", "post", await post("unmute", KEY));
    const { status, body } = await post("mute", { ...KEY, until: new Date(0).toISOString(), reason: "r" });
    expect([status, body]).toEqual([400, { error: expect.stringContaining("expected a time in the future") }]);
  }));
