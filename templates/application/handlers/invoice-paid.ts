import { defineHandler } from "oncehook";
import { z } from "zod";

type Tables = { paid_invoices: { id: string; cents: number } };

export const invoicePaid = defineHandler<Tables>()({
  source: "stripe",
  type: "invoice.paid",
  // Stripe's event, as far as you need it.
  data: z.object({ data: z.object({ object: z.object({ id: z.string(), amount_paid: z.number().int() }) }) }),
  // The receiver makes the table when it opens. Leave this out for a table that your application makes itself.
  migrations: [
    {
      name: "paid-invoices",
      async up({ query }) {
        await query.schema
          .createTable("paid_invoices")
          .addColumn("id", "text", (column) => column.primaryKey())
          .addColumn("cents", "integer", (column) => column.notNull())
          .execute();
      },
    },
  ],
  async handle({ event, tx }) {
    const { id, amount_paid } = event.data.data.object;
    // Commits with the record of the event, or not at all.
    await tx.query.insertInto("paid_invoices").values({ id, cents: amount_paid }).execute();
    return { invoice: id };
  },
});
