import { describe, expect, it } from "vitest";
import { stripe } from "../../src/sources/platforms/index.ts";
import { signedCallback } from "../../src/testing/index.ts";
import { paid, STRIPE_SECRET, withApplication } from "../support/application.ts";
import { withDatabase } from "../support/databases.ts";

const config = { sources: { billing: stripe({ secret: STRIPE_SECRET }) } };
const invoice = { source: "billing", type: "invoice.paid", data: { id: "in_1" } };

describe("signedCallback", () => {
  it("a callback is signed as its platform signs, and one with the id of another is its redelivery", () =>
    withDatabase("sqlite", (target) =>
      withApplication(
        target,
        async ({ receiver }) => {
          const send = async ({ path, ...init }: ReturnType<typeof signedCallback>) => {
            const response = await receiver.fetch(new Request(`https://app.example${path}`, init));
            return [response.status, ((await response.json()) as { status?: string }).status];
          };
          const first = signedCallback(config, invoice);
          expect(await send(first)).toEqual([200, "success"]);
          expect(await send(signedCallback(config, first.event))).toEqual([200, "already_processed"]);
          expect(await send(signedCallback(config, invoice, { isForged: true }))).toEqual([401, undefined]);
        },
        { file: { handlers: [paid()] } },
      ),
    ));

  it("a source that the configuration does not have is refused by its name", () =>
    expect(() => signedCallback(config, { ...invoice, source: "shop" })).toThrow('there is no source "shop": billing'));
});
