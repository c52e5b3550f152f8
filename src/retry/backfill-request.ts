import { fitsTypePattern, keySourceOf, PLATFORM } from "../domain/index.ts";
import type { Registry } from "../handlers/index.ts";
import type { StoredBackfill } from "../store/index.ts";
import { handlerNameOf } from "./backfill-events.ts";

interface Configured {
  /** Of the user's handlers only. */
  readonly registry: Registry;
  readonly sourceNames: readonly string[];
}

/**
 * Why no handler can get a history by this name, and what to do; undefined where one can.
 * @param mayHaveNone a dry run lists the history of a source without a handler
 */
export function handlerProblem(
  { handler, eventType }: { readonly handler: string; readonly eventType: string | null },
  { registry, sourceNames }: Configured,
  mayHaveNone: boolean,
): string | undefined {
  const { source, name } = handlerNameOf(handler);
  if (!sourceNames.includes(source)) return `there is no source ${JSON.stringify(source)}${listOf(sourceNames)}`;
  const ofSource = registry.handlers.filter((one) => one.source === source);
  if (ofSource.length === 0 && mayHaveNone && name === undefined) return undefined;
  if (ofSource.length === 0)
    return `the source ${source} has no handler of yours: add one to \`handlers\` in oncehook.config.ts, then run this again`;
  const named = name === undefined ? ofSource : ofSource.filter((one) => one.name === name);
  const names = ofSource.map((one) => keySourceOf({ source, name: one.name }));
  if (named.length === 0) return `no handler of ${source} is named ${JSON.stringify(name)}${listOf(names)}`;
  if (eventType === null || named.some(({ type }) => fitsTypePattern(type, eventType))) return undefined;
  return `no handler of ${handler} takes ${JSON.stringify(eventType)}${listOf(named.map(({ type }) => type))}`;
}

/** Why no other backfill may start beside this one, and what to do. */
export function unfinishedText({ id, handler, eventType, state }: StoredBackfill): string {
  const what = `backfill ${id} of ${handler}${eventType === null ? "" : `, ${eventType},`}`;
  return state === "paused"
    ? `${what} is paused: resume it or cancel it (oncehook backfills ${id} --resume, or --cancel)`
    : `${what} is running, and takes the same events: wait for its end, or cancel it (oncehook backfills ${id} --cancel)`;
}

function listOf(names: readonly string[]): string {
  const others = [...new Set(names)].filter((name) => name !== PLATFORM);
  return others.length === 0 ? "" : `; there are ${others.join(", ")}`;
}
