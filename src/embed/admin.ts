/** `oncehook/admin`: what serves the admin API and its page in an application. They are loaded at their first request. */
export type * from "./admin-fetch.ts";
export { type AdminHandlerOptions, type AdminReceiver, toAdminHandler } from "./admin-node-handler.ts";
