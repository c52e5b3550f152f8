import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { DIALECTS } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";
import { deliverToTenant, tenantShop } from "../support/tenant-shop.ts";
import { until } from "../support/until.ts";

/** So long that a flood lasts on a fast machine too. */
const HANDLER_MS = 60;
const LIMIT_MS = 1_000 + HANDLER_MS;
const SAMPLES = 5;

type KeyOf = (index: number) => string | undefined;
interface Flood {
  readonly title: string;
  readonly events: number;
  readonly keyOf: KeyOf;
}
/** Events of one key wait for one another, so that they stand longest before another tenant's. */
const FLOODS: Flood[] = [
  { title: "10,000 events of one tenant, of one `orderBy` key", events: 10_000, keyOf: () => "k" },
  { title: "2,000 events of one tenant, of as many keys", events: 2_000, keyOf: (index) => `k${index}` },
  { title: "2,000 events of one tenant, without keys", events: 2_000, keyOf: () => undefined },
];

/** The second failures of the quiet tenant do not come: each of its events fails once where `fails`. */
function handlerOf(fails: () => boolean) {
  const failed = new Set<string>();
  return defineHandler({
    source: "shops",
    type: "order",
    orderBy: "data.key",
    data: z.looseObject({ id: z.string(), tenant: z.string().optional() }),
    async prepare({ event: { data } }) {
      await sleep(HANDLER_MS);
      if (!fails() || data.tenant !== "b" || failed.has(data.id)) return null;
      failed.add(data.id);
      throw new Error("down");
    },
    handle: () => ({}),
  });
}

function flooded(
  dialect: (typeof DIALECTS)[number],
  flood: Flood,
  fails: () => boolean,
  use: (receiver: TestReceiver) => Promise<void>,
) {
  const options = {
    sources: { shops: tenantShop({ answer: "after", retry: { first: "1s" } }) },
    handlers: [handlerOf(fails)],
    retryPollMs: 50,
    // A busy machine may take more than 30 s to accept ten thousand events.
    env: { RATE_LIMIT_CALLBACK: "off", RATE_LIMIT_DEFAULT: "off", REQUEST_TIMEOUT_MS: "120000" },
  };
  return withReceiver(
    dialect,
    async (receiver) => {
      const events = Array.from({ length: flood.events }, (_, index) => ({ id: `e${index}`, key: flood.keyOf(index) }));
      expect(await deliverToTenant(receiver, "a", events)).toBe(200);
      expect(await receiver.count("oncehook_failures")).toBeGreaterThan(flood.events / 2);
      await use(receiver);
      expect(await receiver.count("oncehook_failures", "source = 'shops/a'")).toBeGreaterThan(0);
    },
    options,
  );
}

/** How long the slowest of the quiet tenant's events takes from its delivery to its record. */
async function slowestMs(receiver: TestReceiver): Promise<number> {
  const took: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const id = `b${sample}`;
    const begun = performance.now();
    expect(await deliverToTenant(receiver, "b", [{ id, tenant: "b" }])).toBe(200);
    await until(async () => (await receiver.count("oncehook_records", `event_id = '${id}'`)) === 1, 60_000);
    took.push(performance.now() - begun);
  }
  return Math.max(...took);
}

describe.each(DIALECTS)("a flood of one tenant's events on %s", (dialect) => {
  it.each(FLOODS)(
    "$title, delay another tenant's accepted event by less than a second",
    { timeout: 180_000 },
    (flood) =>
      flooded(
        dialect,
        flood,
        () => false,
        async (receiver) => expect(await slowestMs(receiver)).toBeLessThan(LIMIT_MS),
      ),
  );

  it.each(FLOODS)(
    "$title, that wait for a retry delay another tenant's by less than a second",
    { timeout: 180_000 },
    (flood) => {
      const retryMs = 1_000 + HANDLER_MS;
      return flooded(
        dialect,
        flood,
        () => true,
        async (receiver) => {
          await execute(
            receiver.target,
            "UPDATE oncehook_failures SET state = 'waiting', code = 'handler_failed' WHERE lease_owner IS NULL",
          );
          expect(await slowestMs(receiver)).toBeLessThan(retryMs + LIMIT_MS);
        },
      );
    },
  );
});
