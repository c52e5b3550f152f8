import { expect } from "vitest";
import { z } from "zod";
import { backfillOnce } from "../../src/app/index.ts";
import { defineHandler, type Handler } from "../../src/index.ts";
import type { Target } from "./databases.ts";
import { type ReceiverOptions, startReceiver, type TestReceiver, testConfig } from "./receiver.ts";
import { deliverToShop, shop } from "./shop-source.ts";

export const IDS = Array.from({ length: 10 }, (_, index) => `evt_${index}`);
export const ALL = { handler: "shop", sinceMs: Number.POSITIVE_INFINITY, isDryRun: false, perSecond: 1_000 };

/** A handler of the shop's orders, and what it has committed: what it notified. */
export function handlerOf(name?: string, type = "order", fails: (id: string) => boolean = () => false): Handler {
  return defineHandler({
    source: "shop",
    ...(name !== undefined && { name }),
    type,
    data: z.looseObject({ id: z.string() }),
    async handle({ event, notify }) {
      if (fails(event.event_id)) throw new Error("the warehouse is closed");
      await notify("ran", { by: name ?? "none", timestamp: event.timestamp });
      return {};
    },
  });
}

export async function withShop<T>(
  target: Target,
  options: ReceiverOptions,
  use: (receiver: TestReceiver) => Promise<T>,
): Promise<T> {
  const receiver = await startReceiver(target, { sources: { shop: shop() }, retryPollMs: 20, ...options });
  try {
    return await use(receiver);
  } finally {
    await receiver.stop();
  }
}

/** Ten events are stored, since the shop has no handler. */
export function storeTen(target: Target): Promise<void> {
  return withShop(target, {}, async (receiver) => {
    for (const id of IDS) expect((await deliverToShop(receiver, { id, time: 1_700_000_000 })).status).toBe(200);
  });
}

export const backfill = (
  target: Target,
  handlers: readonly Handler[],
  over: Partial<typeof ALL> & { type?: string } = {},
) =>
  backfillOnce(
    { config: testConfig(target, {}, { sources: { shop: shop() } }), handlers, migrations: [] },
    { ...ALL, ...over },
  );
