export type * from "./dependencies.ts";
export { createDiagnoser } from "./diagnoser.ts";
export * from "./rate-limit.ts";
export type { ReadOrigin } from "./request-context.ts";
export { RequestSequence, type RequestSequenceOptions } from "./request-sequence.ts";
export type { SourceBounds } from "./routes.ts";
export { UnverifiedBodies } from "./unverified-bodies.ts";
