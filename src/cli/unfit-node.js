import { readFileSync } from "node:fs";

/**
 * The command runs on either database and on the Node that the tests run with. An application that uses PostgreSQL may have an
 * older one, which `engines` names.
 * @type {readonly [major: number, minor: number]}
 */
export const LEAST_NODE = [24, 10];

/**
 * Why this Node cannot run the service, or undefined. Imports nothing that an old Node does not have.
 * @param {string} version as in `process.versions.node`
 * @param {readonly { readonly node: URL, readonly says: string }[]} packages where a fitting Node may be installed, and how to use it
 * @returns {string | undefined}
 */
export function unfitNode(version, packages = PACKAGES) {
  if (isAtLeast(version, LEAST_NODE)) return undefined;
  const needed = `this is Node ${version}, and ${LEAST_NODE.join(".")} or newer is needed: `;
  const at = packages.find(({ node }) => isInstalled(node, LEAST_NODE));
  if (at !== undefined) return `${needed}this project has one, which npm uses. ${at.says}`;
  return (
    `${needed}install it from https://nodejs.org, or into ` +
    `the project with "npm install node@${LEAST_NODE[0]}", and start again`
  );
}

/** Where the package `node` lies: beside this one in a project, or among the packages of a clone. */
const PACKAGES = [
  {
    node: new URL("../../../node/package.json", import.meta.url),
    says: 'Type "npx oncehook" and the command; "npm start" serves',
  },
  {
    node: new URL("../../node_modules/node/package.json", import.meta.url),
    says: 'Type "npm run oncehook --" and the command; "npm start" serves',
  },
];

/**
 * @param {URL} manifest of the package `node`
 * @param {readonly [major: number, minor: number]} least
 */
function isInstalled(manifest, least) {
  try {
    return isAtLeast(JSON.parse(readFileSync(manifest, "utf8")).version, least);
  } catch {
    return false;
  }
}

/**
 * @param {string} version
 * @param {readonly [major: number, minor: number]} least
 */
function isAtLeast(version, [leastMajor, leastMinor]) {
  const [major, minor] = numbers(version);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/**
 * @param {string} text
 * @returns {readonly [major: number, minor: number]}
 */
function numbers(text) {
  const [major = 0, minor = 0] = (text.match(/\d+/g) ?? []).map(Number);
  return [major, minor];
}
