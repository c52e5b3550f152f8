import { hmac } from "../../src/sources/platforms/index.ts";
import type { TestReceiver } from "./receiver.ts";

type Settings = Partial<Parameters<typeof hmac>[0]>;

/** A source whose events say their id, type, time and payload in the body: `{ id, type, time, … }`. */
export const shop = (settings: Settings = {}) =>
  hmac({
    secret: "the secret of the shop",
    signature: { header: "X-Signature", encoding: "hex" },
    signed: "{body}",
    id: "body.id",
    type: "body.type",
    eventTime: { at: "body.time", unit: "seconds" },
    ...settings,
  });

/** Of a shop whose callbacks bring several events, as items of `events`. */
export const BATCH = {
  batch: { at: "body.events" },
  id: "item.id",
  type: "item.type",
  eventTime: { at: "item.time", unit: "seconds" },
} as const satisfies Settings;

const SIGNER = shop();

export interface ShopEvent {
  readonly id: string;
  readonly type?: string;
  readonly time?: number;
  readonly [field: string]: unknown;
}

/** Delivers an event of the shop as its platform would. */
export async function deliverToShop(
  { publicOrigin }: Pick<TestReceiver, "publicOrigin">,
  event: ShopEvent,
  unsigned: Readonly<Record<string, string>> = { "X-Event-Id": event.id },
) {
  const body = Buffer.from(JSON.stringify({ type: "order", ...event }));
  const headers = { ...unsigned, ...SIGNER.sign?.({ body, now: new Date() }) };
  const response = await fetch(`${publicOrigin}/api/shop/callback`, { method: "POST", body, headers });
  const text = (await response.json()) as { status?: string; data?: unknown; error?: string };
  return { status: response.status, body: text };
}
