import { readFileSync } from "node:fs";

/**
 * Why this Node cannot run the service, or undefined. Imports nothing that an old Node does not have.
 * @param {string} version as in `process.versions.node`
 * @returns {string | undefined}
 */
export function unfitNode(version) {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const least = numbers(JSON.parse(text).engines.node);
  const [major, minor] = numbers(version);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return undefined;
  return (
    `this is Node ${version}, and ${least.join(".")} or newer is needed: install it from https://nodejs.org, or into ` +
    `the project with "npm install node@${least[0]}", and start again`
  );
}

/**
 * @param {string} text
 * @returns {readonly [major: number, minor: number]}
 */
function numbers(text) {
  const [major = 0, minor = 0] = (text.match(/\d+/g) ?? []).map(Number);
  return [major, minor];
}
