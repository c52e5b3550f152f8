import { SECRETS } from "./scenarios.ts";

/** The field of a request that the application's route reads before the receiver. */
export const READ_FIRST = { "x-read-first": "1" };

/**
 * The module of a built application with the receiver of the scenarios, as `scenarioConfig` makes it.
 * @param request how the route's argument leads to the Request
 */
export function sceneModule(adapter: string, request: string): string {
  return `import { existsSync } from "node:fs";
import { join } from "node:path";
import { createReceiver, defineHandler, type Receiver, ${adapter} } from "oncehook";
import { dropbox, stripe, trello, twilio } from "oncehook/sources";

const paid = defineHandler({
  source: "billing",
  type: "invoice.paid",
  async handle({ event }) {
    if (existsSync(join(String(process.env.FAILING_EVENTS), event.event_id))) throw new Error("the handler fails");
    return { id: event.event_id };
  },
});
const sources = {
  billing: stripe({ secret: "${SECRETS.billing}", retry: { for: "1h", first: "1s" } }),
  calls: twilio({ secret: "${SECRETS.calls}" }),
  files: dropbox({ secret: "${SECRETS.files}" }),
  boards: trello({ secret: "${SECRETS.boards}" }),
};

declare global {
  var scene: Receiver | undefined;
}

function make() {
  const made = createReceiver({ sources, handlers: [paid] }, { background: "none" });
  process.once("sveltekit:shutdown", () => made.close());
  return made;
}
const receiver = () => (globalThis.scene ??= make());
const handlers = ${adapter}(receiver);
export const { GET, HEAD } = handlers;

export async function POST(given: any): Promise<Response> {
  if (${request}.headers.has("x-read-first")) await ${request}.json();
  return handlers.POST(given);
}

/** What a test calls of the receiver itself. */
export async function control(given: any): Promise<Response> {
  const { method, options } = await ${request}.json();
  return Response.json((await receiver()[method as "work" | "flush"](options)) ?? null);
}
`;
}
