export { boundedFetch } from "./bounded-fetch.ts";
