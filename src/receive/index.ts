export type * from "./dependencies.ts";
export { createDiagnoser } from "./diagnoser.ts";
export type { BodyReader, Exchange, ResponseHeaders } from "./exchange.ts";
export * from "./rate-limit.ts";
export { RequestSequence } from "./request-sequence.ts";
export type { RouteOptions, SourceBounds } from "./routes.ts";
export { UnverifiedBodies } from "./unverified-bodies.ts";
