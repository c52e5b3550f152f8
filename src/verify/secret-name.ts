import type { Credential } from "./scheme.ts";

/** Secrets are configured the current one first; all others are on their way out. */
export function secretName(index: number): Credential["secret"] {
  return index === 0 ? "current" : "previous";
}
