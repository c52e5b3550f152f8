import type { Argument, Command, Option } from "commander";
import { BUILT_IN_TYPES } from "../../config/index.ts";

/** What can stand in the place of a value, as far as a shell can know it. */
export type Value = "file" | "folder" | "any" | readonly string[];

export interface CompletedOption {
  readonly flags: readonly string[];
  readonly description: string;
  /** Undefined for a switch. */
  readonly value: Value | undefined;
  /** Whether it takes all words up to the next option. */
  readonly isVariadic: boolean;
}

export interface CompletedCommand {
  /** Such as "oauth state"; empty for the program itself. */
  readonly path: string;
  readonly description: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  readonly values: readonly Value[];
}

/** The program and everything below it, as its help shows them. */
export function commandTree(program: Command): CompletedCommand[] {
  return [...below(program, "")];
}

function* below(command: Command, path: string): Generator<CompletedCommand> {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const isHelp = command.name() === "help";
  yield {
    path,
    description: firstSentence(command.description()),
    subcommands: subcommands.map((one) => ({
      name: one.name(),
      description: firstSentence(one.description()),
    })),
    options: help.visibleOptions(command).map(completedOption),
    values: isHelp ? [namesBeside(command)] : command.registeredArguments.map(argumentValue),
  };
  for (const one of subcommands) {
    // Commander creates `help` on the fly, without a parent.
    one.parent ??= command;
    yield* below(one, `${path} ${one.name()}`.trim());
  }
}

function namesBeside({ parent }: Command): string[] {
  return parent === null ? [] : parent.commands.map((one) => one.name());
}

function completedOption(option: Option): CompletedOption {
  const takesOne = option.required || option.optional;
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    description: firstSentence(option.description),
    value: takesOne ? (option.argChoices ?? named(placeholder(option.flags))) : undefined,
    isVariadic: option.variadic,
  };
}

function argumentValue(argument: Argument): Value {
  if (argument.argChoices !== undefined) return argument.argChoices;
  // Any type may be sent; these have a sample of their data.
  return argument.name() === "type" ? BUILT_IN_TYPES : named(argument.name());
}

/** What stands in the brackets of "--env <file>". */
function placeholder(flags: string): string {
  return /[<[]([\w-]+)/.exec(flags)?.[1] ?? "";
}

function named(name: string): Value {
  return name === "file" || name === "folder" ? name : "any";
}

/** A shell has one line for each. */
function firstSentence(text: string): string {
  return text.split(/[.;:] |\.$/, 1)[0] ?? "";
}
