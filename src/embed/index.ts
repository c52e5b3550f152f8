export type * from "./admin-fetch.ts";
export { createReceiver, type ReceiverOptions } from "./create-receiver.ts";
export { type NodeHandler, type NodeHandlerOptions, toNodeHandler } from "./node-handler.ts";
export type * from "./receiver.ts";
