import type { Config } from "../../config/index.ts";
import { addressesOf } from "../../http/index.ts";
import { registeredAddresses } from "../registered.ts";
import { type Finding, failure, ok } from "./finding.ts";

/**
 * SPEC 1.2: the address that the platform has registered must equal one in use to the letter.
 * @param registered what the platform's allow list holds; without it the addresses to register are told
 */
export function checkAddress(config: Config, registered: readonly string[]): Finding[] {
  const about = "address";
  const { redirect } = addressesOf("", config.redirect.scopePath);
  const served = [...registeredAddresses(config).map(({ url }) => url), `${config.baseUrl}${redirect}`];
  if (registered.length === 0)
    return [ok(about, `register one of these with the platform: ${served.join(" ")}`)];
  return registered.map((address) =>
    served.includes(address)
      ? ok(about, `${address} is registered and served`)
      : failure(about, `${address} is registered, but not served; served are: ${served.join(" ")}`),
  );
}
