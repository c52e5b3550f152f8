export { type CallbackLog, type CallbackLogOptions, createCallbackLog } from "./callback-log.ts";
export type { LeftOutCallback } from "./left-out.ts";
export {
  closeLogger,
  createLogger,
  type Logger,
  type LoggerOptions,
  lineWriter,
  withTraceIds,
} from "./logger.ts";
export { createMask, type Mask, type MaskOptions } from "./mask.ts";
export { createMetrics, type Metrics, type MetricsOptions } from "./metrics.ts";
export { createMinuteTally } from "./minute-tally.ts";
export { createRollupCounts, type RollupCounts } from "./rollup-counts.ts";
export { createRowBuffer } from "./row-buffer.ts";
export { unlessSlow } from "./unless-slow.ts";
