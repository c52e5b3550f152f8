import { describe, expect, it } from "vitest";
import type { Receiver } from "../../src/embed/index.ts";
import { type ApplicationOptions, requestOf, stripeCallback, withApplication } from "../support/application.ts";
import { withDatabase } from "../support/databases.ts";

const withReceiver = (use: (receiver: Receiver) => Promise<void>, options: ApplicationOptions = {}) =>
  withDatabase("sqlite", (target) => withApplication(target, ({ receiver }) => use(receiver), options));

const fails = () => {
  throw new Error("of the application");
};
const logger = (write: () => void) => ({ debug: write, info: write, warn: write, error: write });

describe("a value of the application that TypeScript would refuse", () => {
  it.each([["rejects", async () => fails()]])("a logger that %s costs no event, and ends no process", (_how, write) =>
    withReceiver(
      async (receiver) => {
        expect((await receiver.fetch(requestOf(stripeCallback()))).status).toBe(200);
        expect((await receiver.fetch(requestOf(stripeCallback("evt_1", "whsec_of_another_1")))).status).toBe(401);
      },
      { logger: logger(write) },
    ),
  );

  it.each([[["192.0.2.1"]], [{ address: "192.0.2.1" }], ["192.0.2.1, 10.0.0.1"], ["no address"]])(
    "a clientAddress that is no address is an unknown one: %j",
    (clientAddress) =>
      withReceiver(async (receiver) => {
        const info = { clientAddress: clientAddress as string };
        expect((await receiver.fetch(requestOf(stripeCallback()), info)).status).toBe(200);
      }),
  );
});
