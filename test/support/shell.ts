import { execFile } from "node:child_process";

/** The blocks of shell commands in a README, without what they explain. */
export function shellBlocks(markdown: string): string[][] {
  return [...markdown.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block.trim().split("\n"));
}

/** Runs a README's `npm run oncehook -- …` in a shell, as it stands there; resolves with what it printed. */
export function runCommand(command: string, env: Record<string, string | undefined>): Promise<string> {
  const node = `${process.execPath} --conditions=oncehook-source src/cli/main.js`;
  const line = command.replace(/^npm run (?:-s )?oncehook --/, node);
  return new Promise((resolve) => {
    execFile("sh", ["-c", line], { env: { ...env } }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}
