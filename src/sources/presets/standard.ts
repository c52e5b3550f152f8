import type { TextPlace } from "../contract/locate.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import type { PlatformFacts } from "../source-definition.ts";
import { hmacPreset } from "./hmac-preset.ts";
import type { OwnContract } from "./own-source.ts";
import type { Platform } from "./preset.ts";
import type { PresetOptions } from "./secrets.ts";

/** A platform that signs as Standard Webhooks. */
interface StandardPreset extends Omit<Platform, "id">, Partial<Pick<Platform, "id">>, Pick<HmacData, "key"> {
  /** The prefix of its headers; it stands for `webhook` too, as Svix's libraries take them. Default: only `webhook`. */
  readonly prefix?: "svix";
}

/**
 * HMAC-SHA256 over `id.timestamp.body`, several of which may stand in one header as `v1,<base64>`. The id is signed and
 * stays over retries; the timestamp is of the attempt. `v1a` (Ed25519) is not read. Source: standard-webhooks
 * spec/standard-webhooks.md, libraries/javascript; svix `src/webhook.ts`.
 */
export function standardScheme(prefix?: StandardPreset["prefix"]): HmacData {
  const named = (part: string) => (prefix === "svix" ? [`svix-${part}`, `webhook-${part}`] : [`webhook-${part}`]);
  return {
    key: "whsec",
    signature: {
      header: named("signature"),
      encoding: "base64",
      fields: { separator: " ", assignment: ",", value: "v1" },
    },
    signed: `{header.${named("id").join("|")}}.{timestamp}.{body}`,
    timestamp: { header: named("timestamp"), unit: "seconds", toleranceSeconds: 300 },
  };
}

/** A header of fields in hex, as Stripe has it: `t=1767225600,v1=…`. */
export function timedFields(header: string, value = "v1", timestamp = "t"): HmacData["signature"] {
  return { header, encoding: "hex", fields: { separator: ",", assignment: "=", value, timestamp } };
}

/** The id that the signature covers. */
export function standardId(prefix?: StandardPreset["prefix"]): Pick<OwnContract, "id" | "isIdSigned"> {
  const id = prefix === "svix" ? ["header.svix-id", "header.webhook-id"] : "header.webhook-id";
  return { id, isIdSigned: true };
}

/** A sender without a preset of its own. */
export interface StandardOptions extends PresetOptions {
  /** The places of the event's type; the first one present counts. Default: `body.type`. */
  readonly type?: TextPlace | readonly TextPlace[];
}

/** A preset of senders without one of their own, whose contract is what the specification recommends. */
export function standardSenders(preset: string, { prefix, ...facts }: Omit<StandardPreset, "type">) {
  return hmacPreset<StandardOptions>(preset, {
    renewsTimestamp: true,
    ...facts,
    ...standardScheme(prefix),
    ...standardId(prefix),
    type: "body.type",
    eventTime: { at: "body.timestamp", unit: "iso" },
    options: { type: "optional" },
    made: ({ type = "body.type" }) => ({ type }),
  });
}

/** A preset of a platform that signs as Standard Webhooks. */
export function standardPreset(preset: string, { prefix, ...data }: StandardPreset) {
  return hmacPreset(preset, { renewsTimestamp: true, ...standardScheme(prefix), ...standardId(prefix), ...data });
}

/** Of senders that Svix delivers for. Source: https://docs.svix.com/retries. */
export const SVIX_FACTS = {
  deadlineSeconds: 15,
  retryHours: 28,
  disables: "all attempts fail for 5 days",
} as const satisfies Partial<PlatformFacts>;
