export {
  type Authentication,
  authenticHeaders,
  CannotSignError,
  signedCallback,
} from "./authentic-headers.ts";
export { runOAuthFlow } from "./oauth-flow-run.ts";
export { sampleData, samplesOf } from "./samples.ts";
export { NoResponseError, type OwnListener, sendEvent } from "./send-event.ts";
export { sendSourceEvent, sourceSample } from "./source-callback.ts";
