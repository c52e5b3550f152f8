import type { Environment } from "./read-variables.ts";

/** Before the names of the variables of a receiver in an application. */
export const APPLICATION_PREFIX = "ONCEHOOK_";

/** Those of a receiver in an application, by their names without the prefix. */
export function applicationVariables(env: Environment): Environment {
  const own = Object.entries(env).filter(([name]) => name.startsWith(APPLICATION_PREFIX));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(APPLICATION_PREFIX.length), value]));
}

/** A name of a variable; those of tracing are OpenTelemetry's. */
const VARIABLE = /\b(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+|SOURCES|HANDLERS|PORT|HOST|CAPTURE)\b/g;

/** @param nameOf the name under which the author of the configuration set it; with the prefix when left out */
export function renameVariables(text: string, nameOf = (name: string) => `${APPLICATION_PREFIX}${name}`): string {
  return text.replaceAll(VARIABLE, nameOf);
}
