import type { Receiver } from "./receiver.ts";

/**
 * A receiver, or a function that returns it and keeps it; each request calls that. Builds of Next.js and SvelteKit
 * evaluate the modules of routes without the variables of production, where a configuration throws.
 */
export type ReceiverOrMaker = Receiver | (() => Receiver | Promise<Receiver>);

export async function receiverOf(given: ReceiverOrMaker): Promise<Receiver> {
  return typeof given === "function" ? given() : given;
}
