import type { Config } from "../config/index.ts";
import { addressesOf } from "../http/index.ts";

type Callback = ReturnType<typeof addressesOf>["callbacks"][number];

/** An address that the platform registers, to the letter (SPEC 1.2). */
export interface RegisteredAddress {
  readonly url: string;
  readonly version: Callback["version"];
}

/** The addresses of callbacks below a base address. */
export function registeredAddresses(config: Config, baseUrl = config.baseUrl): RegisteredAddress[] {
  const { callbacks } = addressesOf("", config.redirect.scopePath);
  return callbacks.map(({ path, version }) => ({ url: `${baseUrl}${path}`, version }));
}
