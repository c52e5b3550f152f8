export { migrate } from "./migrate.ts";
export { connect, StartRefused } from "./open-store.ts";
export { type Parts, type Running, start } from "./start.ts";
