export type { AdminDeps } from "./admin-deps.ts";
export { createAdminListener } from "./admin-listener.ts";
