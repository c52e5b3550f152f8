import type { FastifyInstance } from "fastify";
import { createAdminListener, type ListenerDependencies } from "../../src/admin/index.ts";

/** The admin listener of a receiver that is not there: for its routes alone. */
export function idleListener(over: Partial<ListenerDependencies> = {}): FastifyInstance {
  const access = { tokens: [], provider: null };
  return createAdminListener({
    access,
    tokenCheck: { configured: [] },
    store: {},
    sandbox: null,
    ...over,
  } as never);
}

export interface Route {
  readonly method: string;
  /** Its parameters as OpenAPI writes them. */
  readonly path: string;
}

/** The routes in the tree that Fastify prints. */
export async function routesOf(app: FastifyInstance): Promise<Route[]> {
  await app.ready();
  const prefixes: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split("\n")
    .flatMap((line) => {
      const [, indent, part, methods] = /^([│ ]*)[├└]── (\S+)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
      if (indent === undefined || part === undefined) return [];
      const depth = indent.length / 4;
      prefixes.splice(depth, prefixes.length, part);
      const path = prefixes.join("").replace(/:(\w+)/g, "{$1}");
      return (methods ?? "")
        .split(", ")
        .filter((method) => method !== "")
        .map((method) => ({ method, path }));
    });
}
