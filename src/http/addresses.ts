import type { Version } from "../domain/index.ts";
import type { DistinctHeaders } from "../verify/index.ts";

/** The addresses that platforms call (SPEC 4), below the base path of `CALLBACK_BASE_URL`. */
export interface Addresses {
  readonly callbacks: readonly { readonly path: string; readonly version: Version | "by_header" }[];
  readonly redirect: string;
  /** Absent where the platform has no address at which a flow could start. */
  readonly start?: string;
  readonly done: string;
  /** Where listeners get what came to `callbacks`; served where somebody may listen. */
  readonly heard: string;
}

export function addressesOf(basePath: string, oauthScopePath: string, startsFlows = true): Addresses {
  const oauth = `${basePath}/api/${oauthScopePath}/oauth-`;
  return {
    callbacks: [
      { path: `${basePath}/api/platform/callback`, version: "by_header" },
      { path: `${basePath}/api/v1/platform/callback`, version: "v1" },
      { path: `${basePath}/api/v2/platform/callback`, version: "v2" },
    ],
    redirect: `${oauth}callback`,
    done: `${oauth}done`,
    heard: `${basePath}/_oncehook/heard`,
    ...(startsFlows ? { start: `${oauth}start` } : {}),
  };
}

/** SPEC 9.2: the value `v2` selects version 2, anything else or nothing version 1. */
export function versionOf(headers: DistinctHeaders): Version {
  const values = headers["x-api-version"] ?? [];
  return values.length === 1 && values[0] === "v2" ? "v2" : "v1";
}
