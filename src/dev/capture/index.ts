export { type CaptureBuffer, type CaptureBufferOptions, createCaptureBuffer } from "./capture-buffer.ts";
export { type CaptureLine, parsePosition } from "./captured-request.ts";
export type { StartPosition } from "./follow.ts";
