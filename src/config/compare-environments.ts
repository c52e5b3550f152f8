import { SECRET_NAMES } from "./variables.ts";

/** The variables of one environment, with the name it goes by in messages. */
export interface EnvironmentFile {
  readonly name: string;
  readonly values: Readonly<Record<string, string | undefined>>;
}

const KINDS = {
  secret: SECRET_NAMES,
  address: ["CALLBACK_BASE_URL"],
  database: ["DATABASE_URL"],
} as const;

/** SPEC 1.6: environments share neither addresses nor secrets. Returns what two of them share, no secret shown. */
export function compareEnvironments(files: readonly EnvironmentFile[]): string[] {
  const problems: string[] = [];
  for (const [kind, names] of Object.entries(KINDS)) {
    const seen = new Map<string, { file: string; variable: string }>();
    for (const file of files) {
      for (const variable of names) {
        const value = file.values[variable]?.replace(/\/+$/, "");
        if (value === undefined || value === "") continue;
        const other = seen.get(value);
        if (other === undefined) seen.set(value, { file: file.name, variable });
        else if (other.file !== file.name) {
          problems.push(
            `${file.name} and ${other.file} share one ${kind}: ${variable} equals ${other.variable}; give each its own`,
          );
        }
      }
    }
  }
  return problems;
}
