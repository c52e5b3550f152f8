import { defineHandler, Rejected } from "oncehook";
import { z } from "zod";

type Tables = { parcels: { id: string; weight_grams: number } };

/** A parcel was shipped: it is written down once, however often the platform says so. */
export const parcelShipped = defineHandler<Tables>()({
  type: "parcel_shipped",
  data: z.object({ parcel_id: z.string().min(1), weight_grams: z.number().int() }),
  // Each step is applied once, at the start. To change a table, add another step.
  migrations: [
    {
      name: "parcels",
      async up({ query }) {
        await query.schema
          .createTable("parcels")
          .addColumn("id", "text", (column) => column.primaryKey())
          .addColumn("weight_grams", "integer", (column) => column.notNull())
          .execute();
      },
    },
  ],
  // One transaction with the event's record. Calls to other systems belong into `prepare`.
  async handle({ event, tx, notify }) {
    const { parcel_id, weight_grams } = event.data;
    if (weight_grams <= 0) throw new Rejected("weight_grams: must be positive"); // kept as rejected, no retry
    await tx.query.insertInto("parcels").values({ id: parcel_id, weight_grams }).execute();
    await notify("parcel.shipped", { parcel_id }); // goes out after the commit
    return { parcel_id }; // answered as `data`
  },
});
