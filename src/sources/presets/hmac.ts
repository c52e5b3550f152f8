import type { ContractData } from "../contract/event-contract.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import type { SourceDefinition } from "../source-definition.ts";
import { hmacPreset, type PresetOptions } from "./preset.ts";

/** A sender of your own, or a platform without a preset: how it signs, and where an event's id and type stand. */
export interface HmacSourceOptions
  extends PresetOptions,
    Omit<HmacData, "isSpecified">,
    Omit<ContractData, "timestamp" | "unhandled"> {
  /** The event's own time. */
  readonly eventTime?: ContractData["timestamp"];
}

/** Any HMAC, or hash, over a template of body, headers and address. @throws TypeError that names what is wrong */
export function hmac(options: HmacSourceOptions): SourceDefinition {
  const { algorithm, key, signature, signed, timestamp } = options;
  const scheme = { algorithm, key, signature, signed, timestamp } as HmacData;
  const own = hmacPreset({
    preset: "hmac",
    facts: { title: "HMAC", docs: "docs/sources.md", proof: "own" },
    scheme,
    contract: contractOf(options),
  });
  return own(options);
}

/** The options that are the contract's; a misspelt one is refused where the contract is made. */
function contractOf({ eventTime, ...options }: HmacSourceOptions): ContractData {
  const { secret, path, unhandled, answer, only, ignore, filter, ...parts } = options;
  const { algorithm, key, signature, signed, timestamp, ...contract } = parts;
  return eventTime === undefined ? contract : { ...contract, timestamp: eventTime };
}
