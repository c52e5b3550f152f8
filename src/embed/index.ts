export type * from "./admin-fetch.ts";
export { type AdminHandlerOptions, type AdminReceiver, toAdminHandler } from "./admin-node-handler.ts";
export { createReceiver } from "./create-receiver.ts";
export type { LambdaEvent, LambdaResponse } from "./lambda-exchange.ts";
export { type LambdaHandler, toLambdaHandler } from "./lambda-handler.ts";
export { type NextJsHandler, type NextJsHandlerOptions, toNextJsHandler } from "./next-js-handler.ts";
export { type NodeHandler, type NodeHandlerOptions, toNodeHandler } from "./node-handler.ts";
export type * from "./receiver.ts";
export type { ReceiverOrMaker } from "./receiver-maker.ts";
export {
  type SvelteKitEvent,
  type SvelteKitHandler,
  type SvelteKitHandlerOptions,
  toSvelteKitHandler,
} from "./svelte-kit-handler.ts";
