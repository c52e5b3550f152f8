export { erasePayloads } from "./erase-payloads.ts";
export { createOriginalMerger } from "./original-merger.ts";
export { createCallbackAppender, createRetentionSweep, type RetentionSweep, startRetentionJob } from "./retention.ts";
export { createRollupWriter } from "./rollup-writer.ts";
export { createSlowHandlerReport, slowHandlerTexts } from "./slow-handlers.ts";
export { createStatementLog } from "./statement-log.ts";
export { createValueIndexer, type ValueIndexer } from "./value-indexer.ts";
