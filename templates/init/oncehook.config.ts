import { defineConfig } from "oncehook";
import { parcelShipped } from "./handlers/parcel-shipped.ts";

/**
 * The handlers of your own; values such as secrets and addresses come from the environment. For callbacks of Stripe,
 * GitHub and others: `npx oncehook sources add stripe`.
 */
export default defineConfig({ handlers: [parcelShipped] });
