import { VARIABLE_GROUPS } from "../src/config/configured-values.ts";
import { expectation } from "../src/config/variable.ts";

/** The variables as docs/configuration.md shows them, each with the heading above it. */
export function describeVariables() {
  return VARIABLE_GROUPS.flatMap(([section, table]) =>
    Object.entries(table).map(([name, row]) => ({
      name,
      expects: expectation(row),
      default: row.defaultText ?? (row.generated ? "outside production, generated" : (row.default ?? "")),
      section,
    })),
  );
}
