export { type Authentication, authenticHeaders, NotSignable, signedCallback } from "./authentic-callback.ts";
export { sampleData } from "./sample-data.ts";
export { samplesOf } from "./samples.ts";
export { type OwnListener, type Sent, sendEvent, Unanswered } from "./send-event.ts";
export { walkFlow } from "./walk-flow.ts";
