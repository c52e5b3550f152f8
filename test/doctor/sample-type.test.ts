import { expect, it } from "vitest";
import { undocumented } from "../../src/doctor/documented-types.ts";
import { sampleTypeOf } from "../../src/doctor/sample-type.ts";
import { signSample } from "../../src/sources/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { PRESET_NOW, PRESET_ORIGIN } from "../support/preset.ts";
import { PRESET_SENDERS } from "../support/preset-senders.ts";

/** No type of theirs is known without a handler. */
const UNKNOWN = ["airtable", "asana", "customer-io", "gocardless", "meta", "x", "xero"];

it.each(PRESET_SENDERS)("the test callback that the page names for %s can be sent", async (name, sender) => {
  const definition = sender.source(sender.secrets.slice(0, 1));
  const type = await sampleTypeOf({ name, definition }, []);
  const canSign = definition.sign !== undefined || definition.signBody !== undefined;
  expect(type === null).toBe(!canSign || UNKNOWN.includes(name));
  if (type === null) return;
  const url = new URL(`/api/${name}/callback`, PRESET_ORIGIN);
  expect(type).not.toMatch(/[*<>\s]/);
  const { event } = signSample(definition, { source: name, type, origin: PRESET_ORIGIN, url, now: PRESET_NOW });
  expect(event).toBeDefined();
  expect(await undocumented({ name, definition } as Parameters<typeof undocumented>[0], [type])).toEqual([]);
});

it("a test callback is of a type that a handler takes, also where the handler has a pattern", async () => {
  const billing = { name: "billing", definition: stripe({ secret: "whsec_of_this_test" }) };
  expect(await sampleTypeOf(billing, ["*", "charge.refunded"])).toBe("charge.refunded");
  expect(await sampleTypeOf(billing, ["invoice.pa*"])).toMatch(/^invoice\.pa/);
});
