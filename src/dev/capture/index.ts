export { type CaptureBuffer, type CaptureBufferOptions, createCaptureBuffer } from "./capture-buffer.ts";
export type { StartPosition } from "./follow.ts";
