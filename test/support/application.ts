import { createHmac, randomUUID } from "node:crypto";
import type { ConfigFile } from "../../src/config/index.ts";
import { createReceiver, type Receiver, type ReceiverOptions } from "../../src/embed/index.ts";
import { defineHandler, type Handler } from "../../src/handlers/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import type { LogLine } from "../../src/testing/captured-log.ts";
import type { Target } from "./open-target.ts";

export const STRIPE_SECRET = "whsec_of_an_application_1f0c";
export const CALLBACK_PATH = "/api/billing/callback";
export const VARIABLES = { ENCRYPTION_KEY: Buffer.alloc(32, 9).toString("base64"), APP_ENV: "test" };

/** A handler of paid invoices that calls `handle` with the event's id. */
export function paid(handle: (id: string) => unknown = () => {}): Handler {
  return defineHandler({
    source: "billing",
    type: "invoice.paid",
    data: ANYTHING,
    async handle({ event }) {
      const { id } = event.data as { id: string };
      await handle(id);
      return { id };
    },
  });
}

const ANYTHING = {
  "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) },
} as const;

interface Application {
  readonly receiver: Receiver;
  /** What its logger got so far. */
  readonly lines: LogLine[];
}

export interface ApplicationOptions extends ReceiverOptions {
  readonly file?: Partial<ConfigFile>;
}

/** Lends a receiver as an application makes it, with a source of Stripe. */
export async function withApplication(
  target: Pick<Target, "url">,
  use: (application: Application) => Promise<void>,
  { file, ...options }: ApplicationOptions = {},
): Promise<void> {
  const lines: LogLine[] = [];
  const write = (level: string) => (fields: object, msg: string) => void lines.push({ level, ...fields, msg });
  const logger = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  const receiver = createReceiver(
    { sources: { billing: stripe({ secret: STRIPE_SECRET }) }, handlers: [paid()], ...file },
    { database: target.url, variables: VARIABLES, logger, ...options },
  );
  try {
    await use({ receiver, lines });
  } finally {
    await receiver.close();
  }
}

export interface SignedCallback {
  readonly id: string;
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** A callback as Stripe signs it. @param object of which it tells */
export function stripeCallback(
  id = `evt_${randomUUID()}`,
  secret = STRIPE_SECRET,
  object: object = {},
): SignedCallback {
  const time = Math.floor(Date.now() / 1_000);
  const body = JSON.stringify({ id, object: "event", type: "invoice.paid", created: time, data: { object } });
  const signature = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  const headers = { "content-type": "application/json", "stripe-signature": `t=${time},v1=${signature}` };
  return { id, body, headers };
}

/** The same as a Request to an application. */
export function requestOf({ body, headers }: SignedCallback, path = CALLBACK_PATH): Request {
  return new Request(`https://app.example${path}`, { method: "POST", body, headers });
}
