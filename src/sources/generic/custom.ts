import { optionError, wrongOption } from "../option-error.ts";
import { namesAt } from "../presets/credential-places.ts";
import { type OwnContract, ownSource } from "../presets/own-source.ts";
import { requiredTexts, type SecretOption } from "../presets/secrets.ts";
import { createCustomScheme, type VerifyCallback } from "../schemes/custom.ts";
import { assertSecret } from "../schemes/secret-keys.ts";
import type { SourceDefinition, SourceSettings } from "../source-definition.ts";

/** A sender whose way to sign no other source describes. */
export interface CustomSourceOptions extends SourceSettings, OwnContract {
  /**
   * Whether a callback is authentic: `true`, `false`, or the index of the secret that fits (0 is the current one, -1
   * none). Compare with `timingSafeEqual` of `node:crypto`. An error, a rejection, another value or more than 3 s
   * returns 500.
   */
  readonly verify: VerifyCallback;
  /** The secrets that `verify` compares with, which no log may show. Left out for none, such as with a public key. */
  readonly secret?: SecretOption;
  /**
   * The places from which `verify` reads the proof of a callback, such as `["header.X-Acme-Proof", "query.token", "body.proof"]`. Logs mask
   * these, and `verify` gets no other headers. Left out, logs mask every header and parameter that may be one.
   */
  readonly reads?: readonly string[];
}

const KIND = { preset: "custom", title: "Custom", schemeOptions: ["verify", "secret", "reads"] };
const READ = /^(?:header|query|body)\.[^\s{}]+$/;

/** A source that a function of yours verifies. @throws OptionError that names the option that is wrong */
export function custom(options: CustomSourceOptions): SourceDefinition {
  return ownSource(KIND, options, () => {
    const { verify, secret, reads } = options;
    if (typeof verify !== "function")
      throw optionError("verify", typeof verify, "a function (body, headers, url) => true or false");
    const wrong = [reads ?? []].flat().find((place) => typeof place !== "string" || !READ.test(place));
    if (wrong !== undefined)
      throw wrongOption("reads", wrong, "places such as header.X-Acme-Proof, query.token or body.proof");
    const credential = reads === undefined ? { areUnknown: true as const } : namesAt(reads);
    return {
      // `verify` gets the path's parameters, and asks for itself.
      secrets: Object.hasOwn(options, "secret") ? requiredTexts(secret).map((text) => assertSecret(text)) : [],
      credential,
      scheme: ({ origin }) => createCustomScheme({ verify, origin, headers: reads && namesAt(reads).headers }),
      // The function gets the address, and says whether it fits.
      signsPath: true,
      // Of (body, headers), it reads no address.
      signsAddress: verify.length === 0 || verify.length > 2,
    };
  });
}
