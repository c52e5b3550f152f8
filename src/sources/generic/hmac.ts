import {
  assertOneOf,
  assertOptions,
  assertText,
  contractOf,
  type OwnContract,
} from "../presets/own-source.ts";
import { hmacPreset, type PresetOptions } from "../presets/preset.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import type { SourceDefinition } from "../source-definition.ts";

/** A sender of your own, or a platform without a preset: how it signs, and where an event's id and type stand. */
export interface HmacSourceOptions extends PresetOptions, OwnContract, HmacData {}

const SCHEME = ["algorithm", "key", "signature", "signed", "timestamp"] as const;
const OWN = ["secret", ...SCHEME];
const ENCODINGS = ["hex", "base64", "base64url", "base64-of-hex"];

/** Any HMAC, or hash, over a template of body, headers and address. @throws TypeError that names what is wrong */
export function hmac(options: HmacSourceOptions): SourceDefinition {
  assertOptions("hmac", options, OWN);
  const { signature, signed } = options;
  const [header] = [signature?.header].flat();
  assertText("hmac", "signature.header", header, "X-Acme-Signature");
  assertOneOf("hmac", "signature.encoding", signature.encoding, ENCODINGS);
  assertText("hmac", "signed", signed, "{timestamp}.{body}");
  const given = SCHEME.filter((name) => options[name] !== undefined);
  const scheme = Object.fromEntries(given.map((name) => [name, options[name]])) as unknown as HmacData;
  const own = hmacPreset({
    preset: "hmac",
    facts: { title: "HMAC", docs: "docs/sources.md", proof: "own" },
    scheme,
    contract: contractOf(options, OWN),
    own: Object.fromEntries(Object.keys(options).map((name) => [name, true])),
  });
  return own(options);
}
