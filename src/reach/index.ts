export type { LogReading } from "./find-arrival.ts";
export { type Reach, reachAddress } from "./reach-address.ts";
