import { readdir } from "node:fs/promises";
import { parseEnv } from "node:util";
import type { Command } from "commander";
import type { EnvironmentFile } from "../config/index.ts";
import type { Finding } from "../doctor/index.ts";
import { type ConfigurationOptions, configurationCommand, loadConfiguration } from "./load-configuration.ts";
import { escapeLines, JSON_OPTION, type JsonOptions, MARKS, printStyled } from "./output.ts";
import { readInput } from "./user-error.ts";

interface DoctorOptions extends ConfigurationOptions, JsonOptions {
  readonly registered?: readonly string[];
  readonly compare?: readonly string[];
}

export function doctorCommand(): Command {
  return configurationCommand("doctor")
    .description("Check configuration, database, certificate and addresses. Exit code 1 on a failure.")
    .option("--registered <url...>", "addresses that platforms have registered, compared exactly")
    .option("--compare <file...>", "files that must share no secret or address (default: .env.*)")
    .option(...JSON_OPTION)
    .action(doctor);
}

async function doctor(options: DoctorOptions): Promise<void> {
  const { runDoctor } = await import("../app/index.ts");
  const { OF_THE_SERVER } = await import("../doctor/index.ts");
  const { config, handlers, isApplication } = await loadConfiguration(options);
  const files = await environmentFiles(options.compare);
  const all = await runDoctor(config, options.registered ?? [], files, handlers);
  const findings = isApplication ? all.filter(({ check }) => !OF_THE_SERVER.has(check)) : all;
  const lineOf = ({ level, check, message }: Finding) => `${MARKS[level]()} ${check}: ${escapeLines(message)}\n`;
  printStyled(options, findings, () => findings.map(lineOf).join(""));
  if (findings.some(({ level }) => level === "failure")) process.exitCode = 1;
}

async function environmentFiles(named: readonly string[] | undefined): Promise<EnvironmentFile[]> {
  const names = named ?? (await readdir(".")).filter((name) => /^\.env\.(?!example$)[\w-]+$/.test(name));
  return names.map((name) => {
    const text = readInput(name, `--compare: got "${name}", which`).toString();
    return { name, values: parseEnv(text) };
  });
}
