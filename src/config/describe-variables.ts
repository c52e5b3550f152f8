import { ACCESS_VARIABLES } from "./access-variables.ts";
import type { Variable } from "./variable.ts";
import { VARIABLES } from "./variables.ts";

export interface VariableDescription {
  readonly name: string;
  readonly expects: string;
  readonly default: string;
  readonly meaning: string;
  /** The page whose table has it. */
  readonly page: "README.md" | "docs/access.md" | "docs/oauth.md";
}

/** The variables, as the tables show them. */
export function describeVariables(): VariableDescription[] {
  return Object.entries<Variable<unknown>>(VARIABLES).map(([name, entry]) => ({
    name,
    expects: entry.expects,
    default: entry.default,
    meaning: entry.meaning,
    page: pageOf(name),
  }));
}

function pageOf(name: string): VariableDescription["page"] {
  if (name in ACCESS_VARIABLES) return "docs/access.md";
  return name.startsWith("OAUTH_") ? "docs/oauth.md" : "README.md";
}
