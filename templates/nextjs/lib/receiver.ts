import { createReceiver, type Receiver } from "oncehook";

declare global {
  var webhooks: Promise<Receiver> | undefined;
}

// `next dev` evaluates this module again after each change: the receiver before the change is closed.
const earlier = process.env.NODE_ENV === "development" ? globalThis.webhooks : undefined;
if (earlier !== undefined) globalThis.webhooks = undefined;
const closed = earlier?.then((receiver) => receiver.close()).catch(() => {});

/** `next build` evaluates this module without your secrets, so that the first callback makes the receiver. */
export function receiver(): Promise<Receiver> {
  globalThis.webhooks ??= load().catch((error) => {
    globalThis.webhooks = undefined; // the next callback tries again
    throw error;
  });
  return globalThis.webhooks;
}

async function load() {
  await closed;
  const { default: config } = await import("../oncehook.config.ts");
  // Reads ONCEHOOK_DATABASE_URL and ONCEHOOK_ENCRYPTION_KEY.
  return createReceiver(config, {
    // Who may use the page: ask your login here. Until then .env opens it, on your own machine.
    admin: { authorize: () => (process.env.ADMIN_PAGE === "open" ? "operator" : null) },
  });
}
