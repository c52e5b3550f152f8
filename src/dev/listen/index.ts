export type { CapturedRequest, CaptureLine } from "./capture-stream.ts";
export { type Delivered, deliver } from "./deliver.ts";
export { followReceiver } from "./follow-receiver.ts";
