import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { token } from "../../src/sources/platforms/index.ts";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { execute } from "../support/execute.ts";
import { event, payment, type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const failing = { now: true };
const unreliable = defineHandler({
  type: "unreliable",
  data: z.object({}),
  handle() {
    if (failing.now) throw new Error("the stock service\u001b[31m is down\nand stays so");
    return { done: true };
  },
});

const notifying = defineHandler({
  type: "notifying",
  data: z.object({}),
  async handle({ notify }) {
    await notify("shop.told", {});
    return {};
  },
});

type Run = (...args: string[]) => Promise<Ended>;

const audit = defineHandler({ type: "notifying", name: "audit", data: z.object({}), handle: () => ({}) });

const asking =
  (port: string, token = TOKEN, env: Record<string, string> = {}): Run =>
  (...args) =>
    runCommandLine(args, {
      ...CHILD_ENVIRONMENT,
      ADMIN_TOKEN: token,
      ADMIN_PORT: port,
      ...env,
    });

const ofShop = ["kept", "unkept"].map((type) =>
  defineHandler({
    source: "shop",
    type,
    data: z.object({}),
    handle() {
      if (type === "unkept" && failing.now) throw new Error("not yet");
      return {};
    },
  }),
);
const SHOP_TOKEN = "a token of this test";

async function sendToShop({ publicOrigin }: TestReceiver, id: string, type: string): Promise<void> {
  const headers = { "X-Token": SHOP_TOKEN };
  const body = JSON.stringify({ id, type });
  await fetch(`${publicOrigin}/api/shop/callback`, { method: "POST", headers, body });
}

function withRunning(use: (receiver: TestReceiver, run: Run) => Promise<void>): Promise<void> {
  failing.now = true;
  return withReceiver("sqlite", (receiver) => use(receiver, asking(new URL(receiver.adminOrigin).port)), {
    handlers: [unreliable, notifying, audit, ...ofShop],
    sources: {
      shop: token({ secret: SHOP_TOKEN, header: "X-Token", id: "body.id", type: "body.type" }),
    },
  });
}

describe("an operator at the command line", () => {
  it("a look-up finds an event by its id, as a table and as JSON", () =>
    withRunning(async (receiver, run) => {
      await receiver.send(payment({ event_id: "evt_a" }));
      await receiver.send(payment({ event_id: "evt_b" }));
      const found = await run("events", "--id", "evt_a");
      expect([found.code, found.stderr]).toEqual([0, ""]);
      expect(found.stdout.split("\n")).toEqual([
        expect.stringMatching(/^event_id {2}source {4}type {12}processed at {2,4}result$/),
        expect.stringMatching(/^-+( {2}-+){4}$/),
        expect.stringMatching(/^evt_a {5}platform {2}payment_notify {2}[\d: -]{8,14} {2}\{"order_id":"o1"\}$/),
        "",
      ]);
      const json = JSON.parse((await run("events", "--id", "evt_b", "--json")).stdout);
      expect(json).toMatchObject({ items: [{ event_id: "evt_b", status: "completed" }], next_cursor: null });
      expect((await run("events", "--id", "evt_c")).stdout).toContain("no such event was handled");
    }));

  it("events are listed by their source", () =>
    withRunning(async (receiver, run) => {
      await receiver.send(event("notifying", {}, { event_id: "evt_a" }));
      const found = await run("events", "--source", "platform#audit");
      expect([found.code, found.stderr]).toEqual([0, ""]);
      expect(found.stdout).toMatch(/^evt_a +platform#audit +notifying /m);
      expect(found.stdout).not.toMatch(/ platform /);
    }));

  it("an event is found without --source where one source has it, and a message names the source that has it", () =>
    withRunning(async (receiver, run) => {
      await sendToShop(receiver, "evt_s", "kept");
      await sendToShop(receiver, "evt_f", "unkept");
      expect((await run("event", "evt_s")).stdout).toMatch(/^evt_s of shop: kept, handled at /);
      const elsewhere = await run("event", "evt_s", "--source", "platform");
      expect([elsewhere.code, elsewhere.stderr]).toEqual([
        1,
        expect.stringContaining("platform has no event evt_s, but shop: --source shop"),
      ]);
      const list = await run("failures", "--source", "platform", "--id", "evt_f");
      expect(list.stdout).toContain("no such failure; shop have evt_f");
      failing.now = false;
      expect((await run("replay", "evt_f")).stdout).toContain("replayed: success");
      await receiver.send(payment({ event_id: "evt_s" }));
      const both = await run("event", "evt_s");
      expect([both.code, both.stderr]).toEqual([
        2,
        expect.stringContaining("platform and shop have an event evt_s: name one"),
      ]);
    }));

  it("what was ignored is counted by source and type", () =>
    withRunning(async (receiver, run) => {
      for (const id of ["1", "2"]) await sendToShop(receiver, id, "order.deleted");
      await sendToShop(receiver, "3", "order.moved");
      await sendToShop(receiver, "4", "kept");
      const { stdout } = await run("events", "--ignored");
      expect(stdout).toMatch(/^shop +order\.deleted +2 +[\d: -]{8,14}$/m);
      expect(stdout).toMatch(/^shop +order\.moved +1 +[\d: -]{8,14}$/m);
      expect(stdout).not.toContain("kept");
      const json = JSON.parse((await run("events", "--ignored", "--json")).stdout);
      expect(json.items).toMatchObject([{ event_type: "order.moved", count: 1 }, { count: 2 }]);
    }));

  it("events of a source without records are reported as none", () =>
    withRunning(async (receiver, run) => {
      await receiver.send(payment());
      const { code, stdout } = await run("events", "--source", "oauth");
      expect([code, stdout]).toEqual([0, expect.stringContaining("no such event was handled yet")]);
    }));

  /** The program's time limits pass twenty times as fast: 15 s for a look-up, 35 s and more for a run. */
  const HASTY = `data:text/javascript,${encodeURIComponent(
    "const timeout = AbortSignal.timeout.bind(AbortSignal); AbortSignal.timeout = (ms) => timeout(ms / 20);",
  )}`;

  it("a replay is awaited for its own time limit, which is longer than a look-up's", {
    tags: "full",
  }, async () => {
    const slow = createServer((_request, response) => {
      setTimeout(() => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ outcome: "success", result: { done: true } }));
      }, 1_500);
    });
    await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
    try {
      const port = String((slow.address() as AddressInfo).port);
      const ask = asking(port, TOKEN, { NODE_OPTIONS: `--import=${HASTY}` });
      const lookUp = await ask("events");
      expect(lookUp.stderr).toContain("has not answered within 15 s");
      const { code, stdout } = await ask("replay", "e1", "--source", "platform");
      expect([code, stdout]).toEqual([0, 'replayed: success {"done":true}\n']);
    } finally {
      slow.closeAllConnections();
      slow.close();
    }
  });

  it("a list that is longer than its page says how to read on", () =>
    withRunning(async (receiver, run) => {
      for (const id of ["evt_1", "evt_2"]) await receiver.send(payment({ event_id: id }));
      const first = (await run("events", "--limit", "1")).stdout;
      const [, cursor = ""] = /^older ones: --cursor (\d+)$/m.exec(first) ?? [];
      expect(first).toContain("evt_2");
      expect((await run("events", "--limit", "1", "--cursor", cursor)).stdout).toContain("evt_1");
    }));

  it("the command's lists and its JSON escape characters that reorder text or are invisible", () =>
    withRunning(async (receiver, run) => {
      const id = "evt_\u202efdp.exe\u2066\u200b\u00ad";
      expect((await receiver.send(payment({ event_id: id }))).status).toBe(200);
      const escaped = "evt_\\u202efdp.exe\\u2066\\u200b\\u00ad";
      expect((await run("events")).stdout).toContain(escaped);
      const { stdout } = await run("events", "--json");
      expect(stdout).toContain(escaped);
      expect(JSON.parse(stdout).items[0].event_id).toBe(id);
    }));

  it("a failure is shown in one line, its replay tried as a dry run, and then replayed", () =>
    withRunning(async (receiver, run) => {
      await receiver.send(event("unreliable", {}, { event_id: "evt/é" }));
      const { stdout } = await run("failures", "--state", "waiting");
      expect(stdout).toMatch(/^evt\/é .*waiting .*handler_failed {2}Error: the stock service\\u001b\[31m is down$/m);
      const still = await run("replay", "evt/é", "--dry-run");
      expect([still.code, still.stdout]).toEqual([
        1,
        expect.stringMatching(/^a dry run, rolled back: handler_failed\nError: the stock service/),
      ]);
      failing.now = false;
      const rehearsed = await run("replay", "evt/é", "--dry-run", "--json");
      expect(JSON.parse(rehearsed.stdout)).toMatchObject({
        outcome: "success",
        result: { done: true },
        dry_run: true,
        statements: [],
      });
      expect(await receiver.count("oncehook_records")).toBe(0);
      const replayed = await run("replay", "evt/é");
      expect([replayed.code, replayed.stdout]).toEqual([0, 'replayed: success {"done":true}\n']);
      expect((await run("failures")).stdout).toBe("no event has failed\n");
      const again = await run("replay", "evt/é");
      expect([again.code, again.stderr]).toEqual([
        1,
        expect.stringContaining("is handled already, and nothing was changed"),
      ]);
    }));

  it("a failure is found by its event, its time line read, and the failure discarded", () =>
    withRunning(async (receiver, run) => {
      for (const id of ["evt_1", "evt_2"]) await receiver.send(event("unreliable", {}, { event_id: id }));
      const [found, { code, stdout }] = await Promise.all([run("failures", "--id", "evt_1"), run("event", "evt_1")]);
      expect(found.stdout).toMatch(/^evt_1 .*handler_failed/m);
      expect(found.stdout).not.toContain("evt_2");
      expect(code).toBe(0);
      expect(stdout.split("\n")).toEqual([
        expect.stringMatching(
          /^evt_1 of platform: unreliable, next retry at [\d: -]{8,14}, the last one at [\d: -]{8,14}$/,
        ),
        "",
        expect.stringMatching(/^time +what +outcome +status +ms +error$/),
        expect.stringMatching(/^[- ]+$/),
        expect.stringMatching(
          /^[\d: -]{8,14} +attempt in a callback +handler_failed +500 +[\d.]+ +Error: the stock service\\u001b/,
        ),
        expect.stringMatching(/^[\d: -]{8,14} +failure, waiting +handler_failed$/),
        "",
      ]);
      const discarded = await run("discard", "evt_1");
      expect([discarded.code, discarded.stdout]).toEqual([0, "the failure of evt_1 was discarded\n"]);
      expect(await receiver.count("oncehook_failures", "event_id = 'evt_1'")).toBe(0);
      expect(await receiver.count("oncehook_failures")).toBe(1);
    }));

  it("notifications are listed by the state of their deliveries, and a failed delivery is discarded", () =>
    withRunning(async (receiver, run) => {
      await receiver.send(event("notifying", {}, { event_id: "evt_1" }));
      expect((await run("notifications")).stdout).toMatch(/^1 +shop\.told +evt_1 +[\d: -]{8,14} +waiting +0$/m);
      await execute(
        receiver.target,
        `INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts, error)
          VALUES (1, 'webhook', 'dead', 9, 'answered 500
    at deliver (/app/src/channel.ts:7:3)')`,
      );
      const [dead, replayed] = await Promise.all([
        run("notifications", "--state", "dead"),
        run("notifications", "replay", "1"),
      ]);
      expect(dead.stdout).toMatch(/^1 +shop\.told +evt_1 +[\d: -]{8,14} +webhook +failed +9 +answered 500$/m);
      expect(dead.stdout).not.toContain("channel.ts");
      expect([replayed.code, replayed.stderr]).toEqual([1, expect.stringContaining("not configured: webhook")]);
      const discarded = await run("notifications", "discard", "1", "--channel", "webhook");
      expect([discarded.code, discarded.stdout]).toEqual([0, "1 delivery of notification 1 discarded\n"]);
      expect(await receiver.count("oncehook_deliveries")).toBe(0);
    }));

  it.each([
    [
      ["events", "--limit", "many"],
      "'--limit <count>' argument 'many' is invalid. Expected a whole number from 1 to 200",
    ],
    [["failures", "--limit", "201"], "argument '201' is invalid. Expected a whole number from 1 to 200"],
    [["event", "e1", "--cursor", "x"], "argument 'x' is invalid. Expected what the page before it printed"],
    [["notifications", "discard", "one"], "'one' is invalid for argument 'id'. Expected a whole number from 1"],
    [["replay", "--all", "--per-second", "0"], "argument '0' is invalid. Expected a whole number from 1 to 100"],
    [["tail", "--last", "many"], "argument 'many' is invalid. Expected a whole number from 1 to 200"],
    [["oauth", "state", "x", "--expires-in", "soon"], "'soon' is invalid. Expected a whole number from 1 to 86400"],
    [["events", "--admin-port", "65536"], "'65536' is invalid. Expected a whole number from 1 to 65535"],
    [["send", "payment_notify", "--api", "v3"], "argument 'v3' is invalid. Allowed choices are v1, v2"],
  ])("a command exits 2 for %j, with the expected value, without a receiver", async (args, words) => {
    const { code, stderr } = await asking("1")(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  });

  it("a look-up with another token says that the token is wrong", () =>
    withRunning(async (receiver) => {
      const stranger = asking(new URL(receiver.adminOrigin).port, "another-token-of-some-length");
      expect((await stranger("events")).stderr).toContain("ADMIN_TOKEN here is another than the receiver's");
    }));

  it("a look-up says that another program answers in the receiver's place", async () => {
    const other = createServer((_request, response) => response.end("<html>hello</html>"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    try {
      const { code, stderr } = await asking(String((other.address() as AddressInfo).port))("events");
      expect(stderr).toMatch(/^oncehook: http:\S+ answered 200 with something that is not JSON, so another program/);
      expect(stderr).not.toContain("    at ");
      expect(code).toBe(1);
    } finally {
      other.close();
    }
  });
});
