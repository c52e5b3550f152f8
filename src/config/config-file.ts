import { closestName, PLATFORM } from "../domain/index.ts";
import type { SourceDefinition } from "../sources/index.ts";
import type { Migration } from "../store/index.ts";
import { sourceProblems } from "./sources.ts";

/** The default export of `oncehook.config.ts`: code, where the environment holds values. */
export interface ConfigFile {
  /** Platforms beside the built-in protocol, by the names of their addresses: `{ billing: stripe({ secret }) }`. */
  readonly sources?: Readonly<Record<string, SourceDefinition>>;
  readonly handlers?: readonly ConfiguredHandler[];
  /** Tables of the user's own, applied in this order after the handlers'. */
  readonly migrations?: readonly Migration[];
}

/** The shape of what `defineHandler` returns, as far as configuration looks at it. */
export interface ConfiguredHandler {
  readonly type: string;
  /** The built-in protocol when left out. */
  readonly source?: string;
  readonly handle: (context: never) => unknown;
}

const LISTS = {
  handlers: { text: "type", method: "handle", expected: "what defineHandler returns" },
  migrations: { text: "name", method: "up", expected: "{ name, up(tx) }" },
};
const KEYS = ["sources", ...Object.keys(LISTS)];

export function defineConfig(file: ConfigFile): ConfigFile {
  return file;
}

/** The problems of a configuration file's content. */
export function fileProblems(file: unknown): string[] {
  if (typeof file !== "object" || file === null) return ["expected a default export: defineConfig({ handlers: […] })"];
  const content = file as Record<string, unknown>;
  const unknown = Object.keys(content).filter((key) => !KEYS.includes(key));
  return [
    ...unknown.map((key) => {
      const meant = closestName(key, KEYS);
      const known =
        meant === undefined ? `there are ${KEYS.slice(0, -1).join(", ")} and ${KEYS.at(-1)}` : `did you mean ${meant}?`;
      return `${key}: no such key; ${known}`;
    }),
    ...Object.entries(LISTS).flatMap(([list, { text, method, expected }]) => {
      const items = content[list] ?? [];
      if (!Array.isArray(items)) return [`${list}: expected a list`];
      return items.flatMap((item: unknown, index) => {
        const fields = (typeof item === "object" && item !== null ? item : {}) as Record<string, unknown>;
        const fits = typeof fields[text] === "string" && typeof fields[method] === "function";
        return fits ? [] : [`${list}[${index}]: expected ${expected}`];
      });
    }),
    ...sourceProblems(content.sources),
    ...repeated(content.handlers),
  ];
}

/** The parts that the rest of the configuration can be read with. All problems are reported together. */
export function readableParts(file: ConfigFile | null): ConfigFile {
  const { sources, handlers } = file ?? {};
  const readable = Object.entries(sources ?? {}).filter(([name, one]) => sourceProblems({ [name]: one }).length === 0);
  const isHandler = (one: ConfiguredHandler | null) => typeof one?.type === "string";
  return { sources: Object.fromEntries(readable), handlers: Array.isArray(handlers) ? handlers.filter(isHandler) : [] };
}

/** Two handlers of one type and version are ambiguous, unless they have different names. */
function repeated(handlers: unknown): string[] {
  if (!Array.isArray(handlers)) return [];
  const first = new Map<string, number>();
  return handlers.flatMap((handler: unknown, index) => {
    const { source = PLATFORM, name: handlerName, type, versions } = (handler ?? {}) as Record<string, unknown>;
    if (typeof type !== "string" || !Array.isArray(versions)) return [];
    return versions.flatMap((version: unknown) => {
      const ofSource = source === PLATFORM ? "" : ` of ${String(source)}`;
      const name = `"${type}"${ofSource} in ${String(version)}${handlerName === undefined ? "" : ` under the name ${String(handlerName)}`}`;
      const other = first.get(name);
      if (other === undefined) first.set(name, index);
      return other === undefined
        ? []
        : [`handlers[${index}]: handlers[${other}] is for ${name} as well; keep one of them, or name one`];
    });
  });
}
