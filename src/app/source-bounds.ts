import type { Config, RateLimit } from "../config/index.ts";
import { createAllowList, type SourceBounds } from "../http/index.ts";
import { answerWarnings, type ConfiguredSource, retentionWarnings } from "./configured-sources.ts";

/** For each remote address: above the bursts of platforms, which call from few addresses. */
const DEFAULT_RATE: RateLimit = { points: 6_000, windowSeconds: 60 };

/** The rate of a source; null for none. `RATE_LIMIT_CALLBACK=off` switches the default off as well. */
export function rateOf(
  { limits }: Pick<ConfiguredSource, "limits">,
  { callback }: Config["limits"],
): RateLimit | null {
  return limits?.rate === undefined ? callback && DEFAULT_RATE : limits.rate;
}

/**
 * What holds for the addresses of each source. A platform's own largest body raises MAX_BODY_BYTES and never lowers it:
 * the numbers that platforms publish are of payloads, and a callback adds to them. It stays below MAX_UNVERIFIED_BYTES.
 */
export function sourceBounds(
  {
    maxBodyBytes,
    maxUnverifiedBytes,
    limits,
  }: Pick<Config, "maxBodyBytes" | "maxUnverifiedBytes" | "limits">,
  configured: readonly ConfiguredSource[],
): ReadonlyMap<string, SourceBounds> {
  const bounds = configured.map((source): [string, SourceBounds] => {
    const { name, definition } = source;
    const { addresses } = source.limits ?? {};
    const rate = rateOf(source, limits);
    const { facts, settings } = definition;
    const ofPlatform = Math.min(Math.max(maxBodyBytes, facts.maxBodyBytes ?? 0), maxUnverifiedBytes);
    const own: SourceBounds = {
      maxBodyBytes: settings.maxBodyBytes ?? ofPlatform,
      limits: rate === null ? [] : [{ name: `source:${name}`, ...rate }],
      ...(addresses !== undefined && { isAllowed: createAllowList(addresses) }),
    };
    return [name, own];
  });
  return new Map(bounds);
}

/** What the start and `doctor` say of the settings of sources. @returns a sentence for each */
export function sourceWarnings(
  config: Pick<Config, "maxUnverifiedBytes" | "retention">,
  configured: readonly ConfiguredSource[],
): string[] {
  return [
    ...bodyLimitWarnings(config, configured),
    ...answerWarnings(configured),
    ...retentionWarnings(config, configured),
    ...configured.flatMap(({ name, definition: { open } }) =>
      open === undefined ? [] : [`sources.${name}: ${open}`],
    ),
  ];
}

/** Sources whose largest bodies MAX_UNVERIFIED_BYTES keeps out. @returns a sentence for each */
function bodyLimitWarnings(
  { maxUnverifiedBytes }: Pick<Config, "maxUnverifiedBytes">,
  configured: readonly ConfiguredSource[],
): string[] {
  return configured.flatMap(({ name, definition }) => {
    const { maxBodyBytes: largest = 0, title } = definition.facts;
    if (definition.settings.maxBodyBytes !== undefined || largest <= maxUnverifiedBytes) return [];
    return [
      `MAX_UNVERIFIED_BYTES: got ${maxUnverifiedBytes}, and ${title} sends bodies of up to ${largest}: longer ones of the ` +
        `source ${name} get 413. Set it to ${largest} at least, or maxBodyBytes of the source`,
    ];
  });
}
