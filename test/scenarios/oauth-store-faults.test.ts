import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, Rejected } from "../../src/index.ts";
import { execute } from "../support/execute.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";

const STATE = "state-of-at-least-128-bits";

async function expectState(receiver: TestReceiver): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ state: STATE });
  const answer = await receiver.admin("/api/v1/oauth/states", { method: "POST", headers, body });
  expect(answer.status).toBe(201);
}

async function statusOf({ publicOrigin }: TestReceiver, parameters: Record<string, string>): Promise<number> {
  const query = new URLSearchParams({ state: STATE, ...parameters });
  return (await fetch(`${publicOrigin}/api/platform/oauth-callback?${query}`)).status;
}

/** From now on no row of this table can be changed. */
const freeze = ({ target }: TestReceiver, table: string, operation: "UPDATE" | "DELETE") =>
  execute(
    target,
    `CREATE TRIGGER frozen_${operation} BEFORE ${operation} ON ${table}
     BEGIN SELECT RAISE(ABORT, 'frozen'); END`,
  );

const warning = (words: string) =>
  expect.objectContaining({ level: 40, msg: expect.stringContaining(words) });

describe("the OAuth redirect beside a database in trouble", () => {
  it("with the platform's refusal is answered all the same where its state cannot be marked as used", () =>
    withReceiver("sqlite", async (receiver) => {
      await expectState(receiver);
      for (const operation of ["UPDATE", "DELETE"] as const)
        await freeze(receiver, "oncehook_redirect_states", operation);
      expect(await statusOf(receiver, { error: "access_denied" })).toBe(400);
      expect(receiver.lines).toContainEqual(warning("a used OAuth state could not be marked as spent"));
    }));

  it("with a refused code is answered all the same where its earlier failure cannot be removed", () => {
    let isDown = true;
    const refusing = defineHandler({
      type: "user_authorized",
      data: z.object({ code: z.string() }),
      handle: () => {
        if (isDown) throw new Error("down");
        throw new Rejected("the code is spent");
      },
    });
    return withReceiver(
      "sqlite",
      async (receiver) => {
        await expectState(receiver);
        expect(await statusOf(receiver, { code: "c1" })).toBe(500);
        await freeze(receiver, "oncehook_failures", "UPDATE");
        isDown = false;
        expect(await statusOf(receiver, { code: "c1" })).toBe(400);
        expect(receiver.lines).toContainEqual(warning("the failure of a refused code could not be removed"));
      },
      { handlers: [refusing], env: { HANDLERS: "none" } },
    );
  });
});
