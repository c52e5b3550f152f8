import type { Receiver } from "./receiver.ts";

/**
 * A receiver, or a function that returns it, which is called by each request. Builds of Next.js and SvelteKit evaluate
 * the modules of routes without the variables of production: `createReceiver` would throw there.
 */
export type ReceiverOrMaker = Receiver | (() => Receiver);

export const receiverOf = (given: ReceiverOrMaker): Receiver => (typeof given === "function" ? given() : given);
