import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parseEnv } from "node:util";
import { CONFIG_FILE_NAMES, secretVariables } from "../config/index.ts";
import { closestName } from "../domain/index.ts";
import { functionOf, moreThanSecret, PRESET_NAMES, type PresetName } from "../sources/index.ts";
import { withSource } from "./config-text.ts";
import { TEST_SECRET } from "./fixture-test.ts";
import { UsageError } from "./user-error.ts";

/** The tests of a project that init wrote read this file. */
const TEST_ENV = ".env.test";

/** Adds a source to this folder's project; twice is the same as once. @throws UsageError for an unknown preset */
export async function addSource(given: string, { env }: { readonly env: string }): Promise<void> {
  const name = presetNamed(given);
  const [variable] = secretVariables(name);
  const file = CONFIG_FILE_NAMES.find((one) => existsSync(resolve(one)));
  const code = { preset: functionOf(name), source: name, variable };
  const done = [
    ...(file === undefined ? [] : [addToConfig(file, code)]),
    addToEnv(env, { [variable]: "", ...(file === undefined && { SOURCES: name }) }),
    // The configuration is the tests' as well, and without a secret it is refused.
    ...(existsSync(TEST_ENV) ? [addToEnv(TEST_ENV, { [variable]: TEST_SECRET })] : []),
  ];
  process.stdout.write(`${done.join("\n")}\n\n${await nextSteps(name, variable, env)}`);
}

function presetNamed(given: string): PresetName {
  // As it is spelt in SOURCES, or in code.
  const name = PRESET_NAMES.find((one) => one === given || functionOf(one) === given);
  if (name !== undefined) return name;
  const needs = moreThanSecret(given);
  if (needs !== undefined) throw new UsageError(needs);
  const meant = closestName(given, PRESET_NAMES) ?? PRESET_NAMES.find((one) => given !== "" && one.startsWith(given));
  const hint = meant === undefined ? `there are ${PRESET_NAMES.join(", ")}` : `did you mean ${meant}?`;
  throw new UsageError(`there is no preset ${JSON.stringify(given)}; ${hint}`);
}

function addToConfig(file: string, code: Parameters<typeof withSource>[1]): string {
  const text = readFileSync(file, "utf8");
  const { state, text: changed, lines } = withSource(text, code);
  if (state === "there") return `${file}: has ${code.preset}() already, and is left as it is.`;
  if (state === "unclear")
    return `${file}: is left as it is, since its shape is not the usual one. Put this into it:\n\n${lines}`;
  writeFileSync(file, changed);
  return `${file}: added\n\n${lines}`;
}

/** Adds what the file lacks; a list such as SOURCES gets one more name. */
function addToEnv(file: string, variables: Readonly<Record<string, string>>): string {
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const present = parseEnv(before);
  let text = before === "" || before.endsWith("\n") ? before : `${before}\n`;
  const added: string[] = [];
  for (const [name, value] of Object.entries(variables)) {
    const there = present[name];
    if (there === undefined) text += `${name}=${value}\n`;
    else if (name !== "SOURCES" || there.split(",").some((one) => one.trim() === value)) continue;
    else text = text.replace(new RegExp(`^(\\s*(?:export\\s+)?${name}\\s*=).*$`, "m"), `$1${there},${value}`);
    added.push(name);
  }
  if (added.length === 0) return `${basename(file)}: has all of it already, and is left as it is.`;
  // Secrets stand in it.
  writeFileSync(file, text, { mode: 0o600 });
  return `${basename(file)}: added ${added.join(" and ")}.`;
}

/** Not by `npx`, which passes no signal on. */
function serveCommand(): string {
  const text = existsSync("package.json") ? readFileSync("package.json", "utf8") : "";
  return /"start": *"[^"]*\bserve"/.test(text) ? "npm start --" : "node_modules/.bin/oncehook serve";
}

async function nextSteps(name: PresetName, variable: string, file: string): Promise<string> {
  const { PRESETS } = await import("../sources/platforms/index.ts");
  const definition = PRESETS[name]({ secret: TEST_SECRET });
  const { facts, learns } = definition;
  const { sampleTypeOf } = await import("../doctor/index.ts");
  const type = await sampleTypeOf({ name, definition }, []);
  const own = existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {};
  const base = process.env.CALLBACK_BASE_URL ?? own.CALLBACK_BASE_URL;
  const url = `${base?.replace(/\/+$/, "") ?? "<CALLBACK_BASE_URL>"}/api/${name}/callback`;
  const register = `  register ${url} with ${facts.title} (${facts.docs})`;
  const start = `  ${serveCommand()} --env ${file}`;
  const steps = learns
    ? [start, `${register} right after the start: it sends a secret then, which is kept`]
    : [register, `  set ${variable} in ${file} to the secret that it shows`, start];
  return [
    "Next:",
    ...steps,
    ...(type === null ? [] : [`  npx oncehook send --source ${name} ${type} --env ${file}    # in another terminal`]),
    "",
  ].join("\n");
}
