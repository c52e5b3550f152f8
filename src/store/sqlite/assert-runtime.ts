import { DatabaseSync } from "node:sqlite";

/**
 * Node has an authorizer from 24.10 on, and Bun has one. Without it a handler could commit, and its event would be completed
 * before it ended.
 * @throws Error before a file is made
 */
export function assertRuntime(prototype: object = DatabaseSync.prototype, version = process.version): void {
  if ("setAuthorizer" in prototype) return;
  throw new Error(
    "SQLite needs Node 24.10 or newer, or Bun; use one of them, or PostgreSQL (`postgres://…`), which Node 22 runs too: " +
      `the SQLite of this Node ${version} has no authorizer, which keeps a handler from ending its own transaction`,
  );
}
