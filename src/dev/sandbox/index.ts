export {
  type Authentication,
  authenticHeaders,
  CannotSignError,
  signedCallback,
} from "./authentic-headers.ts";
export { runOAuthFlow } from "./oauth-flow-run.ts";
export { sampleData, samplesOf } from "./samples.ts";
export { NoResponseError, type OwnListener, sendEvent, sendSigned } from "./send-event.ts";
