import type { Config, RateLimit } from "../config/index.ts";
import type { SourceBounds } from "../receive/index.ts";
import { createAllowList } from "../system/index.ts";
import type { ConfiguredSource } from "./configured-sources.ts";

/** For each remote address: above the bursts of platforms, which call from few addresses. */
const DEFAULT_RATE: RateLimit = { points: 6_000, windowSeconds: 60 };

/** The rate of a source; null for none. `RATE_LIMIT_CALLBACK=off` switches the default off as well. */
export function rateOf({ limits }: Pick<ConfiguredSource, "limits">, { callback }: Config["limits"]): RateLimit | null {
  return limits?.rate === undefined ? callback && DEFAULT_RATE : limits.rate;
}

/**
 * The bounds of each source. A platform's own largest body raises MAX_BODY_BYTES and never lowers it. Platforms publish
 * the sizes of payloads, and a callback adds to them. The bound stays below MAX_UNVERIFIED_BYTES.
 */
export function sourceBounds(
  config: Pick<Config, "maxBodyBytes" | "maxUnverifiedBytes" | "limits">,
  configured: readonly ConfiguredSource[],
): ReadonlyMap<string, SourceBounds> {
  const { maxBodyBytes, maxUnverifiedBytes, limits } = config;
  const bounds = configured.map((source): [string, SourceBounds] => {
    const { name, definition } = source;
    const { facts, settings } = definition;
    const { addresses } = source.limits ?? {};
    const rate = rateOf(source, limits);
    const ofPlatform = Math.min(Math.max(maxBodyBytes, facts.maxBodyBytes ?? 0), maxUnverifiedBytes);
    const bound: SourceBounds = {
      maxBodyBytes: settings.maxBodyBytes ?? ofPlatform,
      limits: rate === null ? [] : [{ name: `source:${name}`, ...rate }],
      ...(addresses !== undefined && { isAllowed: createAllowList(addresses) }),
    };
    return [name, bound];
  });
  return new Map(bounds);
}
