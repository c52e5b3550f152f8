import { expect, it } from "vitest";
import { sendBatch } from "../../../../src/store/postgres/wire/statement.ts";
import { withDatabase } from "../../../support/databases.ts";
import { withClient } from "../../../support/query-plans.ts";

const echo = (type: string) => ({ text: `SELECT $1::${type}` });

it("a value reaches PostgreSQL as it was given, whatever is in it and however long it is", () =>
  withDatabase("postgres", (target) =>
    withClient(target, async (client) => {
      const texts = ["", "plain", 'a "quoted" \\ one', "{1,NULL}", "zażółć 漢字 🦀\n\t", "x".repeat(700_000)];
      for (const text of texts) {
        const [answer] = await sendBatch(client, [{ ...echo("text"), values: [text] }]);
        expect(answer?.rows).toEqual([[text]]);
      }
      const others = [
        [null, "text", null],
        [-1.5, "float8", "-1.5"],
        [Buffer.of(0, 255), "bytea", "\\x00ff"],
      ] as const;
      for (const [value, type, shown] of others) {
        const [answer] = await sendBatch(client, [{ ...echo(type), values: [value] }]);
        expect(answer?.rows).toEqual([[shown]]);
      }
    }),
  ));

it("a list of texts reaches PostgreSQL as it was given, with its nulls", () =>
  withDatabase("postgres", (target) =>
    withClient(target, async (client) => {
      const lists = [[], ["a"], [null], ["NULL", null, "", 'a "b" \\ {c}, d', "漢字 🦀", "y".repeat(100_000)]];
      for (const list of lists) {
        const statement = { text: "SELECT * FROM unnest($1::text[])", values: [list] };
        const [answer] = await sendBatch(client, [statement]);
        expect(answer?.rows).toEqual(list.map((text) => [text]));
      }
    }),
  ));

it("one trip may have many statements and values, and a large trip leaves nothing to the next one", () =>
  withDatabase("postgres", (target) =>
    withClient(target, async (client) => {
      for (const length of [10, 90_000, 3]) {
        const given = Array.from({ length: 40 }, (_, index) => `${index} `.repeat(length));
        const answers = await sendBatch(
          client,
          given.map((text) => ({ ...echo("text"), values: [text] })),
        );
        expect(answers.map(({ rows }) => rows[0]?.[0])).toEqual(given);
      }
    }),
  ));

it("a value that cannot be sent fails its own trip, and not the next one", () =>
  withDatabase("postgres", (target) =>
    withClient(target, async (client) => {
      const unfit = Symbol("unfit") as unknown as string;
      await expect(sendBatch(client, [{ ...echo("text"), values: ["a", unfit] }])).rejects.toThrow();
      const [answer] = await sendBatch(client, [{ ...echo("text"), values: ["b"] }]);
      expect(answer?.rows).toEqual([["b"]]);
    }),
  ));
