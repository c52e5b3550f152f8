import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/support/free-port.ts";
import { type ServerProcess, startServer } from "../machine/server-process.ts";
import { type Contender, type Place, serving } from "./contender.ts";

const requireOfBench = createRequire(import.meta.url);

/** The version of an installed package. @throws Error where it is not installed */
export function packageVersion(name: string): string {
  try {
    return `${name} ${requireOfBench(`../node_modules/${name}/package.json`).version}`;
  } catch (cause) {
    throw new Error(`${name} is not installed in bench/`, { cause });
  }
}

/** Runs one of bench/servers/ with the Node that runs the benchmark. */
export async function startNodeServer(
  file: string,
  { folder, nodeOptions }: Pick<Place, "folder" | "nodeOptions">,
  env: Record<string, string>,
): Promise<{ server: ServerProcess; port: number }> {
  const port = await freePort();
  const path = fileURLToPath(new URL(`../servers/${file}`, import.meta.url));
  const server = await startServer({
    command: process.execPath,
    args: [...nodeOptions, "--conditions=oncehook-source", path],
    env: { PORT: String(port), NODE_ENV: "production", ...env },
    folder,
    port,
  });
  return { server, port };
}

interface Parts extends Pick<Contender, "name" | "title" | "store"> {
  readonly file: string;
  readonly packages: readonly string[];
  readonly env?: (place: Place) => Record<string, string>;
}

/** A contender that is one file of bench/servers/. */
export function nodeServer({ name, title, store, file, packages, env = () => ({}) }: Parts): Contender {
  return {
    name,
    title,
    store,
    isIdempotent: false,
    version: async () => [`Node ${process.version}`, ...packages.map(packageVersion)].join(", "),
    async start(place) {
      const { server, port } = await startNodeServer(file, place, env(place));
      return serving([server], [`http://127.0.0.1:${port}/api/platform/callback`]);
    },
  };
}
