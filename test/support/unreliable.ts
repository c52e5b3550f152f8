import { z } from "zod";
import { defineHandler } from "../../src/index.ts";

/** A handler that fails until it is told that what it needs is back. */
export function unreliable() {
  const state = { down: true };
  const handler = defineHandler({
    type: "unreliable",
    data: z.object({}),
    migrations: [
      {
        name: "shelves",
        up: async ({ query }) => {
          await query.schema
            .createTable("shelves")
            .addColumn("id", "text", (column) => column.primaryKey())
            .execute();
        },
      },
    ],
    async handle({ event, tx }) {
      if (state.down) throw new Error("the warehouse is closed");
      await tx.execute("insert into shelves (id) values (?)", [event.event_id]);
      return { shelf: 7 };
    },
  });
  return { state, handler };
}
