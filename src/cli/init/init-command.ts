import { resolve } from "node:path";
import { Command } from "commander";
import { PACKAGE_FOLDER } from "../own-package.ts";
import { UserMistake } from "../user-mistake.ts";
import { manifestIn, nextSteps } from "./next-steps.ts";
import { type Scaffolded, scaffold } from "./scaffold.ts";

export function initCommand(): Command {
  return new Command("init")
    .description(
      "Write the first files of a project: configuration, a handler, its test. Nothing is written over.",
    )
    .argument("[folder]", "the project's folder, made where there is none", ".")
    .action(init);
}

async function init(named: string): Promise<void> {
  const folder = resolve(named);
  if (folder === resolve(PACKAGE_FOLDER)) {
    throw new UserMistake(
      "this is Oncehook's own folder; name the one of your project, such as: init ../my-receiver",
    );
  }
  // Read first: a file that is no JSON is told before anything is written.
  manifestIn(folder);
  const done = await scaffold(folder);
  process.stdout.write(`${report(folder, done)}\nNext:\n\n${indented(nextSteps(folder))}\n`);
}

function report(folder: string, { written, kept }: Scaffolded): string {
  const yours = kept.length === 0 ? "" : `\nYours, and left as it was: ${kept.join(", ")}\n`;
  return `Written to ${folder}:\n\n${indented(written)}${yours}`;
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join("");
}
