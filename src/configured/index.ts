export * from "./configured-sources.ts";
export * from "./database.ts";
export * from "./handlers.ts";
export * from "./masks.ts";
export * from "./notification-channels.ts";
export * from "./platform.ts";
export * from "./source-bounds.ts";
export * from "./start-error.ts";
