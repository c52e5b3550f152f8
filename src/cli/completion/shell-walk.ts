import type { CompletedCommand, CompletedOption, Value } from "./command-tree.ts";

/** For all three shells: in single quotes nothing means anything. Ours hold no quote themselves but in descriptions. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A value as bash and zsh keep it in a variable: a kind, or the words themselves. */
export function spelled(value: Value): string {
  return typeof value === "string" ? value : value.join(" ");
}

interface Taking {
  readonly command: CompletedCommand;
  readonly option: CompletedOption;
  readonly flag: string;
  readonly value: Value;
}

/** Every option that takes a value, under each of its names. */
export function taking(tree: readonly CompletedCommand[]): Taking[] {
  return tree.flatMap((command) =>
    command.options.flatMap((option) =>
      option.value === undefined
        ? []
        : option.flags.map((flag) => ({ command, option, flag, value: option.value ?? "any" })),
    ),
  );
}

/**
 * The part that bash and zsh have in common, the branches of `case "$command/$word"`: which command the words so far have
 * led to, and whether the last of them waits for a value.
 */
export function walkBranches(tree: readonly CompletedCommand[]): string {
  const steps = tree.flatMap(({ path, subcommands }) =>
    subcommands.map(
      ({ name }) => `${quoted(`${path}/${name}`)}) command=${quoted(`${path} ${name}`.trim())} count=0 ;;`,
    ),
  );
  const values = taking(tree).map(
    ({ command, option, flag, value }) =>
      `${quoted(`${command.path}/${flag}`)}) value=${quoted(spelled(value))} many=${option.isVariadic ? "1" : ""} ;;`,
  );
  return [...steps, ...values, "*/-*) ;;", "*) count=$((count + 1)) ;;"]
    .map((line) => `      ${line}`)
    .join("\n");
}

/** The branches of `case "$command/$count"`: what stands at a place that is no option. */
export function valueBranches(tree: readonly CompletedCommand[]): string {
  return tree
    .flatMap(({ path, values }) =>
      values.map((value, index) => `      ${quoted(`${path}/${index}`)}) value=${quoted(spelled(value))} ;;`),
    )
    .join("\n");
}
