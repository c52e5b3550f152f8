import { type CallbackEvent, copyJson, fitsTypePattern } from "../../domain/index.ts";
import type { SourceSettings } from "../source-definition.ts";
import type { Contract } from "./contract.ts";

/** The filters of a source as one question; undefined where there are none, so that no event pays for them. */
export function compileFilters({
  only,
  ignore = [],
  filter,
}: Pick<SourceSettings, "only" | "ignore" | "filter">): Contract["isWanted"] {
  if (only === undefined && ignore.length === 0 && filter === undefined) return undefined;
  return ({ json }, eventType) => {
    const fits = (pattern: string) => fitsTypePattern(pattern, eventType);
    if (only !== undefined && !only.some(fits)) return false;
    if (ignore.some(fits)) return false;
    if (filter === undefined) return true;
    // Its own copy: what it changes must not reach a handler.
    const isWanted: unknown = filter({ ...copyJson(json), event_type: eventType } as CallbackEvent);
    if (typeof isWanted === "boolean") return isWanted;
    throw new TypeError(`the source's \`filter\` returned ${typeof isWanted}, expected true or false`);
  };
}
