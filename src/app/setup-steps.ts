import type { Config } from "../config/index.ts";
import type { ConfiguredSource } from "../configured/index.ts";
import { secretVariable } from "../credentials/index.ts";

/** The types that a source's handlers name, and the address that its platform gets. */
interface Registered {
  readonly url: string;
  readonly types: readonly string[];
}

const MOST_TYPES = 12;

/** The steps at a platform and here until its first callback, a sentence each. */
export function setupSteps(
  source: ConfiguredSource,
  { url, types }: Registered,
  config: Pick<Config, "sources">,
): string[] {
  const { title, proof } = source.definition.facts;
  const sender = proof === "own" ? "its sender" : title;
  return [
    `Register ${url} with ${sender}, exactly as it is.`,
    ...typeSteps(types),
    ...secretSteps(source, sender, config),
  ];
}

/** Without handlers every event is stored, and a pattern names no type that could be chosen. */
function typeSteps(types: readonly string[]): string[] {
  if (types.length === 0 || types.length > MOST_TYPES || types.some((type) => type.includes("*"))) return [];
  return [`Choose the event ${types.length === 1 ? "type" : "types"} ${types.join(", ")}, where it lets you choose.`];
}

function secretSteps(source: ConfiguredSource, sender: string, config: Pick<Config, "sources">): string[] {
  const { hasTenantSecrets, learns, secrets } = source.definition;
  if (hasTenantSecrets) return ["Return the secrets of each tenant from the function `secret` of the source."];
  if (learns) return [`${sender} sends a secret when the address is registered, and the receiver keeps it.`];
  if (secrets.length === 0) return [];
  const place = secretVariable(source, 0, config) ?? `\`secret\` of ${source.name} in oncehook.config.ts`;
  return [`Set ${place} to the secret that ${sender} shows for this address.`];
}

/** Of the built-in protocol. @param proof how a callback is authenticated, as a phrase */
export function platformSetupSteps(url: string, proof: string): string[] {
  return [
    `Register ${url} with your platform, exactly as it is.`,
    `Let it prove each callback by ${proof}, with the secret that is configured here.`,
  ];
}
