import { expect, it } from "vitest";
import { z } from "zod";
import { documentedTypes, undocumentedTypeWarnings } from "../../src/doctor/documented-types.ts";
import { defineHandler } from "../../src/index.ts";
import { github, PRESETS, slack, stripe } from "../../src/sources/platforms/index.ts";

const handler = (type: string, source = "billing") => ({ source, type });
const billing = { name: "billing", definition: stripe({ secret: "whsec_of_this_test" }) };

it("a type that no platform sends is pointed out with the one that was meant", async () => {
  const handlers = ["invoice.payed", "invoice.paid", "invoice.*", "INVOICE_PAID", "*"].map((type) => handler(type));
  expect(await undocumentedTypeWarnings([billing], handlers)).toEqual([
    "source billing: the type invoice.payed is not among the types of Stripe that Oncehook knows; did you mean invoice.paid?",
    "source billing: the type INVOICE_PAID is not among the types of Stripe that Oncehook knows; did you mean invoice.paid?",
  ]);
});

it("a pattern or a filter that fits no documented type is pointed out, and another source's type is not", async () => {
  const only = { ...billing, definition: stripe({ secret: "whsec_of_this_test", only: ["invoices.*"] }) };
  const code = { name: "code", definition: github({ secret: "a secret of this test" }) };
  const chat = { name: "chat", definition: slack({ secret: "a secret of this test" }) };
  const handlers = [handler("pull_requests", "code"), handler("/deploy", "chat"), handler("own_step", "chat")];
  expect(await undocumentedTypeWarnings([only, code, chat], handlers)).toEqual([
    "source billing: the type invoices.* is not among the types of Stripe that Oncehook knows; if it is a new one, ignore this",
    "source code: the type pull_requests is not among the types of GitHub that Oncehook knows; did you mean pull_request?",
  ]);
});

it("every documented type of every listed preset can be named by a handler", async () => {
  const lists = Object.entries(await documentedTypes());
  const presets = [...Object.keys(PRESETS), "paypal", "plaid"];
  expect(presets).toEqual(expect.arrayContaining(lists.map(([preset]) => preset)));
  for (const [source, { types }] of lists)
    for (const type of types.split(" "))
      expect(defineHandler({ source, type, data: z.object({}), handle: () => ({}) }).type).toBe(type);
});
