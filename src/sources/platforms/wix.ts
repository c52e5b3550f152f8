import { platformJwt, publicPemKeys } from "../presets/jwt-preset.ts";
import { optionsPreset } from "../presets/preset.ts";
import type { SecretOption } from "../presets/secrets.ts";
import { tokenInBody } from "../schemes/token-place.ts";
import type { SourceSettings } from "../source-definition.ts";

export interface WixOptions extends SourceSettings {
  /** In PEM, as the app's dashboard shows it; several while it is rotated, the current one first. */
  readonly publicKey: SecretOption;
}

/**
 * Wix: `publicKey` is what the app's dashboard shows, in PEM. The claim `data` is JSON in a text, and so is the `data`
 * in that. Handlers see objects (`eventType`, `instanceId`, `data`). An event has an id. A webhook of the older form
 * has the token's hash, so that a try with another token is another event. Source: @wix/sdk `build/auth/AppStrategy.js`
 * (`decodeJWT`) and `build/event-handlers-modules.js` (`parseJWT`); Wix, "Verify requests received from Wix", whose
 * sample token lives for 300,000 seconds.
 */
export const wix = optionsPreset<WixOptions>("wix", {
  docs: "https://dev.wix.com/docs/build-apps/develop-your-app/access/authentication/verify-requests-received-from-wix",
  proof: "verifies",
  deadlineSeconds: 1.25,
  signs: "JWT (RS256), which is the body",
  body: "jws",
  decode: [
    { at: "body.data", as: "json" },
    { at: "body.data.data", as: "json" },
  ],
  // An older webhook may have its object's id there.
  id: ["{body.data.data.entityFqdn}.{body.data.data.id}", "sha256"],
  type: "body.data.eventType",
  eventTime: { at: "body.data.data.eventTime", unit: "iso" },
  data: "body.data",
  options: { publicKey: "required" },
  make(options) {
    const keys = publicPemKeys(options.publicKey, "RS256");
    return {
      secrets: [],
      credential: {},
      scheme: ({ clock }) =>
        platformJwt({
          algorithm: "RS256",
          keys,
          header: tokenInBody(),
          requiredClaims: ["data"],
          clock,
        }),
    };
  },
});
