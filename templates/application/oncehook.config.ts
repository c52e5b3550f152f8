import { defineConfig } from "oncehook";
import { stripe } from "oncehook/sources";
import { invoicePaid } from "./handlers/invoice-paid.ts";

/** The `oncehook` command reads this file too. Another platform: `npx oncehook sources add github`. */
export default defineConfig({
  sources: { stripe: stripe({ secret: process.env.STRIPE_SECRET }) },
  handlers: [invoicePaid],
});
