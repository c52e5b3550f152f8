import type { Config } from "../config/index.ts";
import { OAUTH } from "../domain/index.ts";
import { createMask, MASKED, type Mask, SecretValues } from "../observability/index.ts";
import type { SourceDefinition } from "../sources/index.ts";
import type { ConfiguredSource } from "./configured-sources.ts";

interface MaskedSources {
  readonly configured: readonly ConfiguredSource[];
  /** Those of the configuration, and those that joined them. Default: those of the configuration. */
  readonly secretValues?: SecretValues | undefined;
}

/** Masks every name at which some source reads a credential, whichever source a callback came to. */
export function maskOf(
  config: Pick<Config, "mask" | "secretValues">,
  { configured, secretValues = new SecretValues(config.secretValues) }: MaskedSources,
  onlyHarmless = false,
): Mask {
  const places = configured.map(({ definition }) => definition.credentialPlaces);
  return createMask({
    headers: [...config.mask.headers, ...places.flatMap(({ headers = [] }) => headers)],
    // The error of a handler may quote the headers that it got as JSON.
    keys: [...config.mask.keys, ...places.flatMap(({ headers = [], fields = [] }) => [...headers, ...fields])],
    base64Keys: configured.flatMap(({ definition }) => definition.base64Fields ?? []),
    secretValues,
    onlyHarmless,
  });
}

/** For `JSON.stringify`: masks where the source reads a credential, at any depth as in the log. */
export function credentialMask({ credentialPlaces }: SourceDefinition, kind: "headers" | "fields") {
  const names = new Set(credentialPlaces[kind]?.map((name) => name.toLowerCase()));
  return (name: string, value: unknown): unknown => (names.has(name.toLowerCase()) ? MASKED : value);
}

/** The mask of a source's requests, and of requests without a source. A verifying function may read any header. */
export type MaskFor = (source: string | null | undefined) => Mask;

export function masksOf(config: Config, sources: MaskedSources): { mask: Mask; maskFor: MaskFor } {
  const mask = maskOf(config, sources);
  const { configured } = sources;
  const unknown = configured.filter(({ definition }) => definition.credentialPlaces.areUnknown);
  const strict = unknown.length === 0 ? mask : maskOf(config, sources, true);
  const names = new Set(["", ...unknown.map(({ name }) => name)]);
  // Apple sends a name and an address as `user`.
  const keys = [...config.mask.keys, "user"];
  const ofRedirects = maskOf({ ...config, mask: { ...config.mask, keys } }, sources);
  const maskFor: MaskFor = (source) => {
    if (source === OAUTH) return ofRedirects;
    return names.has(source ?? "") ? strict : mask;
  };
  return { mask, maskFor };
}
