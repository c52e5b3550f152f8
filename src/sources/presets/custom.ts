import { createCustomScheme, type VerifyCallback } from "../schemes/custom.ts";
import type { SourceDefinition, SourceSettings } from "../source-definition.ts";
import type { SecretOption } from "./given-secrets.ts";
import { assertOptions, contractOf, type OwnContract } from "./own-source.ts";
import { defineSource } from "./preset.ts";
import { refuseFunction } from "./tenants.ts";

/** A sender whose way to sign no other source describes. */
export interface CustomSourceOptions extends SourceSettings, OwnContract {
  /**
   * Whether a callback is authentic: `true`, `false`, or the index of the secret that fits (0 is the current one, -1
   * none). Compare with `timingSafeEqual` of `node:crypto`. An error, a rejection, another value or more than 3 s
   * returns 500.
   */
  readonly verify: VerifyCallback;
  /** What `verify` knows and no log may show. */
  readonly secret?: SecretOption;
}

const OWN = ["verify", "secret"];

/** A source that a function of yours verifies. @throws TypeError that names the option that is wrong */
export function custom(options: CustomSourceOptions): SourceDefinition {
  assertOptions("custom", options, OWN);
  const { verify, secret } = options;
  if (typeof verify !== "function")
    throw new TypeError(
      `custom: \`verify\`: got ${typeof verify}, expected a function (body, headers, url) => true or false`,
    );
  refuseFunction("custom", "secret", secret);
  return defineSource({
    preset: "custom",
    facts: { title: "Custom", docs: "docs/sources.md", proof: "own" },
    settings: options,
    // `verify` gets the path's parameters, and asks for itself.
    secrets: [secret].flat().filter((text) => typeof text === "string" && text !== "") as string[],
    scheme: ({ origin }) => createCustomScheme({ verify, origin }),
    contract: contractOf(options, OWN),
    // The function gets the address, and says whether it fits.
    signsPath: true,
  });
}
