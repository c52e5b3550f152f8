import { type Clock, type Refused, refused } from "../domain/index.ts";
import { type CountAgainst, limit, type Policy } from "./rate-limit.ts";
import { rateKey } from "./remote-address.ts";

/** What is known of a request before its body. */
export interface Arrival {
  readonly address: string;
  readonly protocol: string;
  readonly contentEncoding: string | undefined;
  readonly isCallback: boolean;
}

export interface GateRules {
  readonly isAllowed: (address: string) => boolean;
  readonly requireHttps: boolean;
  /** The callback and OAuth routes have a limit of their own on top of the default one. */
  readonly limits: { readonly everywhere: readonly Policy[]; readonly callbacks: readonly Policy[] };
  readonly count: CountAgainst;
  readonly clock: Clock;
}

export interface Passage {
  readonly refusal: Refused | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Phase (a): what is refused before any work on the body, in the order of the design. */
export async function passGate(arrival: Arrival, rules: GateRules): Promise<Passage> {
  if (!rules.isAllowed(arrival.address)) return { refusal: refused("address_not_allowed"), headers: {} };
  const policies = arrival.isCallback ? rules.limits.callbacks : rules.limits.everywhere;
  if (policies.length === 0) return { refusal: protocolFault(arrival, rules), headers: {} };
  const { refusal, headers } = await limit(
    policies,
    rateKey(arrival.address),
    rules.count,
    rules.clock.now(),
  );
  return { refusal: refusal ?? protocolFault(arrival, rules), headers };
}

function protocolFault(arrival: Arrival, rules: GateRules): Refused | undefined {
  if (rules.requireHttps && arrival.protocol !== "https") return refused("https_required");
  const { contentEncoding = "identity" } = arrival;
  return contentEncoding.toLowerCase() === "identity" ? undefined : refused("content_encoding_unsupported");
}
