import { describe, expect, it } from "vitest";
import { createReceiver } from "../../src/embed/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { paid, STRIPE_SECRET, VARIABLES } from "../support/application.ts";

const OPTIONS = { database: "sqlite:x.db", variables: VARIABLES };
const sources = { billing: stripe({ secret: STRIPE_SECRET }) };

describe("createReceiver in JavaScript, which checks no types", () => {
  it("a URL object as the database is refused with what to pass", () => {
    const options = { ...OPTIONS, database: new URL("postgres://a:b@localhost/c") as never };
    expect(() => createReceiver({ sources }, options)).toThrow(/^database: got a URL object, .*pass url\.href$/m);
  });

  it.each<[string, unknown, RegExp]>([
    ["null", null, /expected a default export: defineConfig/],
    [
      "a preset that was not called",
      { sources: { billing: stripe } },
      /sources\.billing: expected what a preset returns/,
    ],
    ["sources that are null", { sources: null }, /sources: expected an object/],
    ["handlers that are no list", { handlers: { paid: paid() } }, /handlers: expected a list/],
    ["a handler that is null", { handlers: [null] }, /handlers\[0\]: expected what defineHandler returns/],
  ])("a configuration of another shape is a ConfigError: %s", (_name, file, message) => {
    const make = () => createReceiver(file as never, OPTIONS);
    expect(make).toThrow(expect.objectContaining({ name: "ConfigError", message: expect.stringMatching(message) }));
  });
});
