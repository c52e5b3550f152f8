import { readFileSync } from "node:fs";

/** Why this Node cannot run the service, or undefined. Imports nothing that an old Node does not have. */
export function unfitNode(version: string): string | undefined {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { engines } = JSON.parse(text) as { engines: { node: string } };
  const least = numbers(engines.node);
  const [major, minor] = numbers(version);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return undefined;
  return (
    `this is Node ${version}, and ${least.join(".")} or newer is needed: install it from https://nodejs.org, or into ` +
    `the project with "npm install node@${least[0]}", and start again`
  );
}

function numbers(text: string): readonly [major: number, minor: number] {
  const [major = 0, minor = 0] = (text.match(/\d+/g) ?? []).map(Number);
  return [major, minor];
}
