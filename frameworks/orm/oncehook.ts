/** What the documented handlers import as `oncehook`. */
export { defineHandler, type Handler } from "../../src/handlers/index.ts";
export { sqlMigration } from "../../src/store/index.ts";
