import { type Failed, failed, type Refused, refused } from "../domain/index.ts";
import type { Deadline } from "../store/index.ts";
import type { DistinctHeaders } from "../verify/index.ts";
import { browserOf } from "./browser-cookie.ts";
import { type Flow, openFlow } from "./flow.ts";
import type { Platform } from "./platform.ts";
import type { RedirectDeps } from "./redirect-deps.ts";

/**
 * The flow that a state belongs to: one that was started here, in this browser; undefined for one that the platform
 * started and that was registered. A state that was not made here, or for another browser, changes nothing.
 */
export async function expectedFlow(
  state: string,
  stateSha256: string,
  iss: string | undefined,
  { headers, deadline }: { readonly headers: DistinctHeaders; readonly deadline: Deadline },
  { receiver, platform, redirectUri }: Pick<RedirectDeps, "receiver" | "platform" | "redirectUri">,
): Promise<Flow | undefined | Refused | Failed> {
  const { store, clock, sealer } = receiver;
  const now = clock.now();
  const flow = openFlow(state, redirectUri, browserOf(headers), { now, sealer });
  if (flow === "of another browser") return refused("state_of_another_browser");
  if (flow === "unknown") {
    const isExpected = state !== "" && (await store.redirectStates.isRegistered(stateSha256, now, deadline));
    if (!isExpected) return refused("state_unknown");
    // What the platform starts itself it may leave without an issuer, but not with another's.
    return iss === undefined ? undefined : issuerFault(iss, platform());
  }
  if (await store.redirectStates.isSpent(stateSha256, deadline)) return refused("state_unknown");
  return (await issuerFault(iss, platform())) ?? flow;
}

/** RFC 9207 §2.4: compared as it is, also on errors, and required where the platform says that it sends it. */
async function issuerFault(
  iss: string | undefined,
  platform: Platform,
): Promise<Refused | Failed | undefined> {
  if (platform.settings.issuer === null) return undefined;
  try {
    const server = await platform.server();
    if (iss === undefined) {
      const isPromised = server.authorization_response_iss_parameter_supported === true;
      return isPromised ? refused("issuer_mismatch", { detail: "iss: missing" }) : undefined;
    }
    return iss === server.issuer ? undefined : refused("issuer_mismatch");
  } catch (error) {
    return failed("platform_unavailable", error);
  }
}
