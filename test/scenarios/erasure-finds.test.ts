import { expect, it } from "vitest";
import { z } from "zod";
import { backfillOnce } from "../../src/app/index.ts";
import type { JsonObject } from "../../src/domain/index.ts";
import { defineHandler } from "../../src/handlers/index.ts";
import { describeFullOnPostgres, withMigrated } from "../support/databases.ts";
import { erase, everything } from "../support/erasure.ts";
import { testConfig } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { ALL, withShop } from "../support/stored-events.ts";
import { until } from "../support/until.ts";

const CUSTOMER = "cus_of_the_erased_person";
const WHERE = { path: "customer", value: CUSTOMER };

/** A handler that keeps the customer wherever it can: in its result and in the text of a notification. */
const handlerOf = (name?: string) =>
  defineHandler({
    source: "shop",
    ...(name !== undefined && { name }),
    type: "order",
    data: z.looseObject({}),
    async handle({ event, notify }) {
      await notify("ordered", { text: `order of ${String(event.data.customer)}` });
      return { seen: event.data as JsonObject };
    },
  });

describeFullOnPostgres("what an erasure finds on %s", (dialect) => {
  it("an erasure removes what a handler made that came after the event", () =>
    withMigrated(dialect, async (target) => {
      const handlers = [handlerOf(), handlerOf("audit")];
      await withShop(target, { handlers: [handlerOf()] }, async (receiver) => {
        await deliverToShop(receiver, { id: "e1", customer: CUSTOMER });
        await deliverToShop(receiver, { id: "e2", customer: "cus_other" });
      });
      await withShop(target, { handlers, env: { RECORD_STATEMENTS: "true" } }, async (receiver) => {
        const config = testConfig(target, {}, { sources: { shop: shop() } });
        await backfillOnce({ config, handlers, migrations: [] }, { ...ALL, handler: "shop#audit" });
        await until(async () => (await receiver.count("oncehook_records")) === 4);
        expect((await erase(receiver, WHERE)).body).toMatchObject({ events: 1, originals: 1, notifications: 2 });
        const left = await everything(receiver);
        expect(left).not.toContain(CUSTOMER);
        expect(left.match(/order of cus_other/g)?.length).toBeGreaterThanOrEqual(2);
      });
    }));
});
