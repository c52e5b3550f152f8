import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { event, type ReceiverOptions, type TestReceiver, withReceiver } from "../support/receiver.ts";

interface Run {
  readonly by: string;
  readonly outcome: string;
  readonly statements: readonly { readonly sql: string; readonly values: readonly unknown[]; readonly rows: number }[];
  readonly statements_omitted: number;
}

const writes = defineHandler({
  type: "written",
  data: z.looseObject({ text: z.string(), times: z.number().default(1), fails: z.boolean().default(false) }),
  async handle({ event: { event_id: id, data }, tx }) {
    for (let time = 0; time < data.times; time += 1)
      await tx.query
        .withTables<{ oncehook_settings: { name: string; value: string } }>()
        .insertInto("oncehook_settings")
        .values({ name: `${id} ${time}`, value: data.text })
        .execute();
    if (data.fails) throw new Error("after it wrote");
    return { id };
  },
});
const RECORDED: ReceiverOptions = { handlers: [writes], env: { RECORD_STATEMENTS: "true", RETRY_MAX: "0" } };

async function runsOf(receiver: TestReceiver, id: string): Promise<readonly Run[]> {
  const { body } = await receiver.admin(`/api/v1/events/platform/${id}`);
  return (body as unknown as { runs: readonly Run[] }).runs;
}

const deliver = (receiver: TestReceiver, id: string, data: object) =>
  receiver.send(event("written", data, { event_id: id }));

describeFullOnPostgres("the recorded statements of handlers on %s", (dialect) => {
  it("an event has what its handler wrote, with values and rows", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect((await deliver(receiver, "e1", { text: "paid" })).status).toBe(200);
        const [run] = await runsOf(receiver, "e1");
        expect(run).toMatchObject({ by: "inline", outcome: "success", statements_omitted: 0 });
        expect(run?.statements).toMatchObject([{ values: ["e1 0", "paid"], rows: 1 }]);
        expect(run?.statements[0]?.sql).toContain("insert into");
      },
      RECORDED,
    ));

  it("many events at once have each their own statements", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const ids = Array.from({ length: 20 }, (_, index) => `e${index}`);
        await Promise.all(ids.map((id) => deliver(receiver, id, { text: `of ${id}` })));
        for (const id of ids)
          expect((await runsOf(receiver, id)).map(({ statements }) => statements)).toMatchObject([
            [{ values: [`${id} 0`, `of ${id}`], rows: 1 }],
          ]);
      },
      RECORDED,
    ));

  it("a run that failed has what was rolled back, and its replay has a run of its own", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect((await deliver(receiver, "e1", { text: "x", fails: true })).status).toBe(500);
        await receiver.admin("/api/v1/failures/platform/e1/replay", { method: "POST" });
        const runs = await runsOf(receiver, "e1");
        expect(runs.map(({ by, outcome }) => [by, outcome])).toEqual([
          ["replay", "handler_failed"],
          ["inline", "handler_failed"],
        ]);
        expect(runs[1]?.statements).toHaveLength(1);
      },
      RECORDED,
    ));

  it("a value shows no secret, and of many or long statements there is a part", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await deliver(receiver, "e1", { text: JSON.stringify({ password: "hunter22", order: 7 }) });
        const [statement] = (await runsOf(receiver, "e1"))[0]?.statements ?? [];
        expect(statement?.values[1]).toBe('{"password":"[masked]","order":7}');
        await deliver(receiver, "e3", { text: "named-a-token-there", access_token: "named-a-token-there" });
        const [unnamed] = (await runsOf(receiver, "e3"))[0]?.statements ?? [];
        expect(unnamed?.values).toEqual(["e3 0", "[masked]"]);
        await deliver(receiver, "e2", { text: "y".repeat(1_000), times: 130 });
        const [run] = await runsOf(receiver, "e2");
        expect(String(run?.statements[0]?.values[1])).toBe(`${"y".repeat(256)}…`);
        expect((run?.statements.length ?? 0) + Number(run?.statements_omitted)).toBe(130);
        expect(run?.statements.length).toBeLessThanOrEqual(100);
      },
      RECORDED,
    ));

  it("an erasure removes what was recorded of an event", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await deliver(receiver, "e1", { text: "paid", customer: "cus_1" });
        await deliver(receiver, "e2", { text: "paid", customer: "cus_2" });
        await receiver.admin("/api/v1/erasures", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ path: "data.customer", value: "cus_1" }),
        });
        expect(await runsOf(receiver, "e1")).toEqual([]);
        expect(await runsOf(receiver, "e2")).toHaveLength(1);
      },
      RECORDED,
    ));
});

describe("handlers whose statements are not recorded", () => {
  it("nothing is recorded unless RECORD_STATEMENTS is on", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        await deliver(receiver, "e1", { text: "paid" });
        expect(await runsOf(receiver, "e1")).toEqual([]);
        expect(await receiver.count("oncehook_recorded_runs")).toBe(0);
      },
      { handlers: [writes] },
    ));
});
