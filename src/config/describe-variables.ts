import type { Variable } from "./variable.ts";
import { VARIABLES } from "./variables.ts";

export interface VariableDescription {
  readonly name: string;
  readonly expects: string;
  readonly default: string;
  readonly meaning: string;
}

/** The table of variables as the README shows it. */
export function describeVariables(): VariableDescription[] {
  return Object.entries<Variable<unknown>>(VARIABLES).map(([name, entry]) => ({
    name,
    expects: entry.expects,
    default: entry.default,
    meaning: entry.meaning,
  }));
}
