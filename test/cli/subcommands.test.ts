import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/program.ts";

const below = (command: Command) => command.commands.map((one) => [command.name(), one.name()] as const);
const SUBCOMMANDS = createProgram().commands.flatMap(below);

/** A command of a new program that is not run: what was typed is read off its options. */
function subcommand(parent: string, name: string) {
  const program = createProgram();
  const above = program.commands.find((one) => one.name() === parent);
  const command = above?.commands.find((one) => one.name() === name);
  if (above === undefined || command === undefined) throw new Error(`there is no ${parent} ${name}`);
  command.action(() => {});
  for (const one of [above, command]) one.configureOutput({ writeErr: () => {} });
  return { program, above, command };
}

/** All that the command demands. */
function demanded({ registeredArguments, options }: Command): string[] {
  const given = registeredArguments.map(({ argChoices }) => argChoices?.[0] ?? "1");
  return [...given, ...options.flatMap(({ mandatory, long }) => (mandatory ? [String(long), "1h"] : []))];
}

describe.each(SUBCOMMANDS)("oncehook %s %s", (parent, name) => {
  const { above, command: described } = subcommand(parent, name);
  const shared = described.options.filter(({ long }) => above.options.some((option) => option.long === long));

  it.each(["between the names", "before the arguments", "at the end"])(
    "the command takes its options %s",
    async (place) => {
      const taken: string[] = [];
      for (const option of shared) {
        const { program, command } = subcommand(parent, name);
        const typed = [String(option.long), ...(option.required ? ["9999"] : [])];
        const rest = demanded(command);
        const words = {
          "between the names": [parent, ...typed, name, ...rest],
          "before the arguments": [parent, name, ...typed, ...rest],
          "at the end": [parent, name, ...rest, ...typed],
        }[place];
        await program.parseAsync(words ?? [], { from: "user" });
        taken.push(`${option.long} ${command.getOptionValue(option.attributeName())}`);
      }
      expect(taken).toEqual(shared.map(({ long, required }) => `${long} ${required ? "9999" : "true"}`));
    },
  );

  it("the command refuses an option that only the one above it has", async () => {
    const others = above.options.filter(({ long }) => !shared.some((option) => option.long === long));
    const refused: string[] = [];
    for (const { long, required, argChoices } of others) {
      const typed = [String(long), ...(required ? [argChoices?.[0] ?? "1"] : [])];
      for (const isBetween of [true, false]) {
        const { program, command } = subcommand(parent, name);
        const rest = demanded(command);
        const words = isBetween ? [parent, ...typed, name, ...rest] : [parent, name, ...rest, ...typed];
        await program.parseAsync(words, { from: "user" }).catch(({ message }) => refused.push(message));
      }
    }
    expect(refused).toEqual(others.flatMap(({ long }) => Array(2).fill(expect.stringContaining(String(long)))));
  });
});

it("the commands below others are found", () => {
  const names = SUBCOMMANDS.map((one) => one.join(" "));
  expect(names).toEqual(expect.arrayContaining(["problems show", "alerts mute", "sources add", "oauth state"]));
});
