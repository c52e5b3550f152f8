import { readFileSync } from "node:fs";

export interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** A stage of a Dockerfile: what FROM says, and what follows. */
export interface Stage {
  readonly image: string;
  readonly instructions: readonly Instruction[];
}

export const DOCKERFILE = readFileSync("deploy/Dockerfile", "utf8");
/** That of a project, as docs/production.md has it. */
export const PROJECT_DOCKERFILE = /```dockerfile\n([\s\S]+?)```/.exec(
  readFileSync("docs/production.md", "utf8"),
)?.[1] as string;

/** The stages of a Dockerfile, continued lines joined, comments left out. */
export function stages(text = DOCKERFILE): Stage[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const all: { image: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [name = ""] = line.split(" ", 1);
    const value = line.slice(name.length + 1).trim();
    if (name === "FROM") all.push({ image: value, instructions: [] });
    else all.at(-1)?.instructions.push({ name, value });
  }
  return all;
}

/** What one instruction of a stage says. */
export function saidBy(stage: Stage, name: string): string {
  const found = stage.instructions.find((instruction) => instruction.name === name);
  if (found === undefined) throw new Error(`expected ${name} in the stage from ${stage.image}`);
  return found.value;
}

/** ENTRYPOINT and CMD, which the engine joins. */
export const command = (stage: Stage): string[] =>
  ["ENTRYPOINT", "CMD"].flatMap((name) => JSON.parse(saidBy(stage, name)) as string[]);

/** The command of HEALTHCHECK. */
export const healthCheck = (stage: Stage): string[] =>
  JSON.parse(saidBy(stage, "HEALTHCHECK").replace(/^.*?CMD /, "")) as string[];
