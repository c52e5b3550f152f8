import type { TestReceiver } from "./receiver.ts";
import { type ShopEvent, shop } from "./shop-source.ts";

const secretOf = (tenant: string) => `the secret of the shop ${tenant}.`;

/** The source `shops`, whose tenants send the events of one callback as `{ events: […] }`. */
export const tenantShop = (settings: Parameters<typeof shop>[0]) =>
  shop({
    path: "/hooks/:shop",
    secret: ({ params }) => secretOf(String(params.shop)),
    batch: { at: "body.events" },
    id: "item.id",
    type: "item.type",
    ...settings,
  });

/** One callback with these events of a tenant. @returns the response's status */
export async function deliverToTenant(
  { publicOrigin }: Pick<TestReceiver, "publicOrigin">,
  tenant: string,
  events: readonly ShopEvent[],
): Promise<number> {
  const body = Buffer.from(JSON.stringify({ events: events.map((event) => ({ type: "order", ...event })) }));
  const headers = shop({ secret: secretOf(tenant) }).sign?.({ body, now: new Date() }) ?? {};
  const response = await fetch(`${publicOrigin}/hooks/${tenant}`, { method: "POST", body, headers });
  await response.arrayBuffer();
  return response.status;
}
