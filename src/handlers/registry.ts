import type { VERSIONS, Version } from "../domain/index.ts";
import type { Handler } from "./handler.ts";

/** Finds the handler of a type in a version (SPEC 4.1, 9). */
export interface Registry {
  find(version: Version, type: string): Handler | undefined;
  /** Every type that has a handler in some version; the only values a metric label may take. */
  readonly types: readonly string[];
  readonly handlers: readonly Handler[];
}

/**
 * A user's handler takes the place of the built-in one of the same type and version.
 * @throws TypeError when two of the user's handlers claim the same type and version
 */
export function createRegistry(builtIn: readonly Handler[], own: readonly Handler[]): Registry {
  const byName = new Map<string, Handler>();
  for (const handler of builtIn) {
    for (const version of handler.versions) byName.set(nameOf(version, handler.type), handler);
  }
  const claimed = new Set<string>();
  for (const handler of own) {
    for (const version of handler.versions) {
      const name = nameOf(version, handler.type);
      if (claimed.has(name)) {
        throw new TypeError(
          `two handlers are configured for "${handler.type}" in ${version}; keep one of them`,
        );
      }
      claimed.add(name);
      byName.set(name, handler);
    }
  }
  const handlers = [...new Set(byName.values())];
  return {
    find: (version, type) => byName.get(nameOf(version, type)),
    types: [...new Set(handlers.map((handler) => handler.type))],
    handlers,
  };
}

function nameOf(version: (typeof VERSIONS)[number], type: string): string {
  return `${version} ${type}`;
}
