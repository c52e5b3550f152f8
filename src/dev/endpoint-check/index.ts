export type { CallbackLogReader } from "./check-endpoint.ts";
export { checkEndpoint, type EndpointCheck } from "./check-endpoint.ts";
