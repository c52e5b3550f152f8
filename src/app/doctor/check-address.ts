import type { Config } from "../../config/index.ts";
import type { Handler } from "../../handlers/index.ts";
import { handlesSignIns } from "../platform.ts";
import { registeredAddresses } from "../registered.ts";
import { type Finding, failure, ok } from "./finding.ts";

/**
 * SPEC 1.2: the address that the platform has registered must equal one in use to the letter. The redirect address of
 * OAuth is in use where a handler receives what redirects bring.
 * @param registered what the platform's allow list holds; without it the addresses to register are told
 */
export function checkAddress(
  config: Config,
  registered: readonly string[],
  handlers: readonly Handler[] = [],
): Finding[] {
  const about = "address";
  const callbacks = registeredAddresses(config).map(({ url }) => url);
  const redirects = handlesSignIns(config, handlers) ? [config.redirect.uri] : [];
  const served = [...callbacks, ...redirects];
  if (registered.length === 0) {
    return [
      ok(about, `register one of these for callbacks with the platform: ${callbacks.join(" ")}`),
      ...redirects.map((url) => ok(about, `register this as the redirect address of OAuth: ${url}`)),
    ];
  }
  return registered.map((address) =>
    served.includes(address)
      ? ok(about, `${address} is registered and served`)
      : failure(about, `${address} is registered, but not served; served are: ${served.join(" ")}`),
  );
}
