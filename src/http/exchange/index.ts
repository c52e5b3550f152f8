/** A Node request as an exchange. It has a door of its own: an application needs none of the listener. */
export { NodeExchange } from "./node-exchange.ts";
export { createReadOrigin, knownAddress, type ReadOrigin, readOriginOf } from "./read-origin.ts";
