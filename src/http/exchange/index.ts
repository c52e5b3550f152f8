/** A Node request as an exchange. This folder stands apart, because an application needs nothing of the listener. */
export { NodeExchange } from "./node-exchange.ts";
export { createReadOrigin, knownAddress, type ReadOrigin, readOriginOf } from "./read-origin.ts";
