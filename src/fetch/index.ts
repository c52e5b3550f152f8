export { boundedFetch } from "./bounded-fetch.ts";
export { type Exchanged, exchange, type Sending } from "./exchange.ts";
