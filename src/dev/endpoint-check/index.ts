export { type CallbackLogReader, checkEndpoint, type EndpointCheck } from "./check-endpoint.ts";
