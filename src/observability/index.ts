export { type CallbackLog, createCallbackLog } from "./callback-log.ts";
export { createMinuteCounter, createRollupCounts, type RollupCounts } from "./counters.ts";
export type { DroppedCallback } from "./drop-log.ts";
export { closeLogger, createLogger, type Logger, type LoggerOptions, lineWriter, withTraceIds } from "./logger.ts";
export { createMask, type Mask } from "./masking/mask.ts";
export { MASKED } from "./masking/secret-patterns.ts";
export { SecretValues } from "./masking/secret-values.ts";
export { createMetrics, type Metrics, type MetricsOptions, undefinedIfSlow } from "./metrics.ts";
export { createRowBuffer } from "./row-buffer.ts";
