import { readdir, readFile } from "node:fs/promises";
import { parseEnv, styleText } from "node:util";
import type { Command } from "commander";
import { examine, type Finding } from "../app/index.ts";
import type { EnvironmentFile } from "../config/index.ts";
import { fileTrouble } from "../domain/index.ts";
import type { Handler } from "../handlers/index.ts";
import { type ConfigurationOptions, configuredCommand } from "./configured-command.ts";
import { JSON_OPTION, type JsonOptions, printResult } from "./json-output.ts";
import { load } from "./load.ts";
import { UserMistake } from "./user-mistake.ts";

interface DoctorOptions extends ConfigurationOptions, JsonOptions {
  readonly registered?: readonly string[];
  readonly compare?: readonly string[];
}

export function doctorCommand(): Command {
  return configuredCommand("doctor")
    .description(
      "Check configuration, database, certificate and addresses; the database is only read. Exit code 1 on a failure.",
    )
    .option(
      "--registered <url...>",
      "the addresses that the platform has registered, to be compared to the letter",
    )
    .option(
      "--compare <file...>",
      "environment files that must share no secret or address (default: .env.* here)",
    )
    .option(...JSON_OPTION)
    .action(doctor);
}

async function doctor(options: DoctorOptions): Promise<void> {
  const { config, file } = await load(options);
  const files = await environmentFiles(options.compare);
  const findings = await examine(
    config,
    options.registered ?? [],
    files,
    (file.handlers ?? []) as readonly Handler[],
  );
  printResult(options, findings, () => findings.map((finding) => `${lineOf(finding)}\n`).join(""));
  if (findings.some(({ verdict }) => verdict === "failure")) process.exitCode = 1;
}

const MARKS = {
  ok: ["green", "ok     "],
  warning: ["yellow", "warning"],
  failure: ["red", "FAILURE"],
} as const;

function lineOf({ verdict, about, says }: Finding): string {
  const [color, mark] = MARKS[verdict];
  return `${styleText(color, mark)} ${about}: ${says}`;
}

async function environmentFiles(named: readonly string[] | undefined): Promise<EnvironmentFile[]> {
  const names = named ?? (await readdir(".")).filter((name) => /^\.env\.(?!example$)[\w-]+$/.test(name));
  return Promise.all(names.map(async (name) => ({ name, values: parseEnv(await read(name)) })));
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new UserMistake(`--compare: got "${file}", which ${fileTrouble(cause)}`, { cause });
  }
}
