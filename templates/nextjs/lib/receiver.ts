import { createReceiver, type Receiver } from "oncehook";

declare global {
  var webhooks: Promise<Receiver> | undefined;
}

/** `next build` evaluates this module without your secrets, and `next dev` evaluates it again after each change. */
export function receiver(): Promise<Receiver> {
  globalThis.webhooks ??= load();
  return globalThis.webhooks;
}

async function load() {
  const { default: config } = await import("../oncehook.config.ts");
  return createReceiver(config); // reads ONCEHOOK_DATABASE_URL and ONCEHOOK_ENCRYPTION_KEY
}
