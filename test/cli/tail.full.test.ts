import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { startOncehook } from "../support/child.ts";
import { withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { payment, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

interface Tail {
  lines(): string[];
  stderr(): string;
  /** Sends Ctrl-C and resolves with the exit code, or the signal. */
  end(): Promise<number | NodeJS.Signals | null>;
  /** Without a signal. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

async function withTail(port: string, args: readonly string[], use: (tail: Tail) => Promise<void>): Promise<void> {
  const child = startOncehook(["tail", ...args], { ...CHILD_ENVIRONMENT, ADMIN_PORT: port });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout?.on("data", (chunk) => out.push(String(chunk)));
  child.stderr?.on("data", (chunk) => err.push(String(chunk)));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? signal)),
  );
  try {
    await use({
      lines: () =>
        out
          .join("")
          .split("\n")
          .filter((line) => line !== ""),
      stderr: () => err.join(""),
      ended,
      end() {
        child.kill("SIGINT");
        return ended;
      },
    });
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

describe("oncehook tail", () => {
  it("tail shows past callbacks, then each new one once, and exits 0", () =>
    withReceiver("sqlite", async (receiver) => {
      await receiver.send(payment({ event_id: "before-1" }));
      await receiver.send(payment({ event_id: "before-2" }));
      await receiver.admin("/api/v1/callbacks");
      await execute(receiver.target, "UPDATE oncehook_callbacks SET received_at = '2026-01-02T12:00:00.000Z'");
      await withTail(new URL(receiver.adminOrigin).port, ["--last", "1"], async (tail) => {
        await until(() => tail.lines().length === 1, 20_000);
        await receiver.send(payment({ event_id: "evt_a" }));
        await receiver.send(payment({ event_id: "evt_a" }));
        await receiver.send(payment({ event_id: "evt_\u001b[31mb" }), { secret: "z".repeat(32) });
        await until(() => tail.lines().length === 5, 20_000);
        expect(tail.lines().at(-1)).toContain("          The callback was signed with a secret");
        // Those of another day have its date.
        expect(tail.lines()[0]).toMatch(/^(?:2026-)?01-0[123] \d\d:\d\d:\d\d {2}platform {4}200 {2}success /);
        expect(tail.lines()[1]).toMatch(/^(?:\d\d-\d\d )?\d\d:\d\d:\d\d {2}platform {4}200 {2}success /);
        expect(
          tail
            .lines()
            .slice(0, 4)
            .map((line) => line.trim().split(/ {2,}/).slice(2, 6)),
        ).toEqual([
          ["200", "success", "payment_notify", "before-2"],
          ["200", "success", "payment_notify", "evt_a"],
          ["200", "already_processed", "payment_notify", "evt_a"],
          ["401", "signature_mismatch", "?", "?"],
        ]);
        expect(await tail.end()).toBe(0);
        expect(tail.stderr()).toBe("");
      });
    }));

  it("tail says what to do about a cause once, though it comes again", () =>
    withReceiver("sqlite", async (receiver) => {
      const wrong = { secret: "z".repeat(32) };
      for (let count = 0; count < 3; count += 1) await receiver.send(payment(), wrong);
      await withTail(new URL(receiver.adminOrigin).port, [], async (tail) => {
        await until(() => tail.lines().length === 4, 20_000);
        const remedies = tail.lines().filter((line) => line.includes("signed with a secret that this receiver"));
        expect(remedies).toHaveLength(1);
        expect(await tail.end()).toBe(0);
      });
    }));

  it("tail shows the type of callbacks that were accepted, past and new, and finds them by it", () => {
    const handler = defineHandler({
      ...{ source: "shop", type: "order", data: z.object({}) },
      handle: () => ({}),
    });
    const sources = { shop: shop({ answer: "after" }) };
    const use = async (receiver: TestReceiver) => {
      await deliverToShop(receiver, { id: "before" });
      await withTail(new URL(receiver.adminOrigin).port, ["--type", "order"], async (tail) => {
        await until(() => tail.lines().length === 1, 20_000);
        await deliverToShop(receiver, { id: "after" });
        await until(() => tail.lines().length === 2, 20_000);
        expect(tail.lines().map((line) => line.trim().split(/ {2,}/).slice(2, 6))).toEqual(
          ["before", "after"].map((id) => ["200", "accepted", "order", id]),
        );
      });
    };
    return withReceiver("sqlite", use, { sources, handlers: [handler] });
  });

  it("tail shows only callbacks that match its filters, past and new", () =>
    withReceiver("sqlite", async (receiver) => {
      const wrong = { secret: "z".repeat(32) };
      await receiver.send(payment(), wrong);
      await receiver.send(payment({ event_id: "before" }));
      const filters = ["--status", "2xx", "--type", "payment_notify", "--text", "ORDER_ID"];
      await withTail(new URL(receiver.adminOrigin).port, filters, async (tail) => {
        await until(() => tail.lines().length === 1, 20_000);
        await receiver.send(payment(), wrong);
        await receiver.send(payment({ event_id: "after" }));
        await until(() => tail.lines().length === 2, 20_000);
        expect(tail.lines().map((line) => line.trim().split(/ {2,}/)[5])).toEqual(["before", "after"]);
        expect(await tail.end()).toBe(0);
      });
      await withTail(new URL(receiver.adminOrigin).port, ["--outcome", "forged"], async (tail) => {
        await until(() => tail.stderr().includes('outcome: there is no "forged"'), 20_000);
      });
    }));

  it("tail prints one JSON value a line for scripts, in order, though more come than a page holds", () =>
    withReceiver("sqlite", async (receiver) => {
      await withTail(new URL(receiver.adminOrigin).port, ["--json", "--last", "1"], async (tail) => {
        await receiver.send(payment({ event_id: "first" }));
        await until(() => tail.lines().length === 1, 20_000);
        const ids = Array.from({ length: 450 }, (_, at) => `e${at}`);
        await Promise.all(ids.map((id) => receiver.send(payment({ event_id: id }))));
        await until(() => tail.lines().length === 451, 20_000);
        const seen = tail.lines().map((line) => JSON.parse(line) as { id: number; event_id: string });
        expect(new Set(seen.map(({ event_id }) => event_id)).size).toBe(451);
        expect(seen.map(({ id }) => id)).toEqual(seen.map(({ id }) => id).toSorted((a, b) => a - b));
        expect(await tail.end()).toBe(0);
      });
    }));

  it("tail waits for a receiver that restarts, and shows the callbacks of the meantime", () =>
    withDatabase("sqlite", async (target) => {
      const first = await startReceiver(target);
      await first.send(payment({ event_id: "one" }));
      const { port } = new URL(first.adminOrigin);
      await withTail(port, [], async (tail) => {
        await until(() => tail.lines().length === 1, 20_000);
        await first.stop();
        await until(() => tail.stderr().includes("does not answer; looking again"), 20_000);
        const second = await startReceiver(target, { env: { ADMIN_PORT: port } });
        try {
          await second.send(payment({ event_id: "two" }));
          await until(() => tail.lines().length === 2, 20_000);
          expect(tail.lines()[1]).toContain("two");
          expect(tail.stderr()).toContain("answers again");
          expect(await tail.end()).toBe(0);
        } finally {
          await second.stop();
        }
      });
    }));

  it("tail reports a missing receiver, and exits 2 for a filter that the receiver refuses", async () => {
    await withTail("9", [], async (tail) => {
      await until(() => tail.stderr().includes("did not answer. Is the receiver running"), 20_000);
      expect(tail.stderr()).not.toContain("    at ");
    });
    await withReceiver("sqlite", (receiver) =>
      withTail(new URL(receiver.adminOrigin).port, ["--status", "6xx"], async (tail) => {
        await until(() => tail.stderr().includes('status: got "6xx", expected a value such as 401'), 20_000);
        expect(await tail.ended).toBe(2);
      }),
    );
  });
});
