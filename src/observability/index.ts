export { type CallbackLog, type CallbackLogOptions, createCallbackLog } from "./callback-log.ts";
export { createMinuteCounter, createRollupCounts, type RollupCounts } from "./counters.ts";
export type { DroppedCallback } from "./drop-log.ts";
export {
  closeLogger,
  createLogger,
  type Logger,
  type LoggerOptions,
  lineWriter,
  withTraceIds,
} from "./logger.ts";
export { createMask, type Mask, type MaskOptions } from "./masking/mask.ts";
export { createMetrics, type Metrics, type MetricsOptions, undefinedIfSlow } from "./metrics.ts";
export { createRowBuffer } from "./row-buffer.ts";
