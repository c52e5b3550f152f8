export { type Authentication, authenticHeaders, CannotSignError } from "./authentic-headers.ts";
export { runOAuthFlow } from "./oauth-flow-run.ts";
export { dataFor, sampleData, samplesOf } from "./samples.ts";
export { NoResponseError, type OwnListener, sendEvent, sendSigned } from "./send-event.ts";
