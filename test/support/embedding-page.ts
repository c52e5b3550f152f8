import { expect } from "vitest";
import { defineConfig } from "../../src/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { signedCallback } from "../../src/testing/index.ts";
import { rowsOf } from "./effects.ts";
import { listening } from "./listening.ts";
import type { Target } from "./open-target.ts";

/** Of the applications in docs/embedding.md. */
export const PAGE_SECRET = "whsec_of-the-page";
const CALLBACK = { source: "stripe", type: "invoice.paid", data: { data: { object: { id: "in_1" } } } };

/** Sends a callback twice to an application of docs/embedding.md, once it listens; its table then has one row. */
export async function expectHandledOnce(target: Target, port: number): Promise<void> {
  const config = defineConfig({ sources: { stripe: stripe({ secret: PAGE_SECRET }) } });
  const callback = signedCallback(config, CALLBACK);
  const send = async () => (await fetch(`http://127.0.0.1:${port}${callback.path}`, callback)).json();
  await listening(`http://127.0.0.1:${port}/`);
  expect(await send()).toEqual({ status: "success", data: { invoice: "in_1" } });
  expect(await send()).toEqual({ status: "already_processed" });
  expect(await rowsOf(target, "SELECT id FROM paid_invoices")).toEqual([{ id: "in_1" }]);
}
