/** `oncehook/server`: the receiver as a process of its own, and what it is made of. */
export { type RunningReceiver, type StartOptions, start } from "./app/index.ts";
export { type Config, ConfigError, loadConfig } from "./config/index.ts";
export { createLogger, createMask } from "./observability/index.ts";
