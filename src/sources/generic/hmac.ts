import { hmacParts } from "../presets/hmac-preset.ts";
import { assertOneOf, assertText } from "../presets/options.ts";
import { type OwnContract, ownSource } from "../presets/own-source.ts";
import type { PresetOptions } from "../presets/secrets.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import type { SourceDefinition } from "../source-definition.ts";

/** A sender of yours, or a platform without a preset: its signature, and the places of id and type. */
export interface HmacSourceOptions extends PresetOptions, OwnContract, HmacData {}

const SCHEME = ["algorithm", "key", "signature", "signed", "timestamp"] as const;
const KIND = { preset: "hmac", title: "HMAC", schemeOptions: ["secret", ...SCHEME] };
const ENCODINGS = ["hex", "base64", "base64url", "base64-of-hex"];

/** Any HMAC, or hash, over a template of body, headers and address. @throws OptionError that names the wrong option */
export function hmac(options: HmacSourceOptions): SourceDefinition {
  return ownSource(KIND, options, (contract) => {
    const { signature, signed } = options;
    const [header] = [signature?.header].flat();
    assertText("signature.header", header, "X-Acme-Signature");
    assertOneOf("signature.encoding", signature.encoding, ENCODINGS);
    assertText("signed", signed, "{timestamp}.{body}");
    const data = SCHEME.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]);
    return hmacParts(Object.fromEntries(data) as unknown as HmacData, contract, { options, title: KIND.title });
  });
}
