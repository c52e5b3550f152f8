import { errorReason, isJsonObject, type JsonValue } from "../../../domain/index.ts";
import { OptionError, wrongOption } from "../../option-error.ts";
import { platformJwt } from "../../presets/jwt-preset.ts";
import { assertOneOf, requireText } from "../../presets/options.ts";
import { optionsPreset } from "../../presets/preset.ts";
import { x5cKeys } from "../../schemes/jwt-keys.ts";
import { tokenInBody } from "../../schemes/token-place.ts";
import { readCertificates } from "../../schemes/x5c-chain.ts";
import type { SourceSettings } from "../../source-definition.ts";
import { APPLE_ROOT_CA_G3 } from "./apple-root.ts";

export interface AppleAppStoreOptions extends SourceSettings {
  /** Of the app, such as `com.example.app`. */
  readonly bundleId: string;
  /** The app's id in App Store Connect; needed in production. The sandbox sends none. */
  readonly appAppleId?: number;
  /** Default: `Production`. */
  readonly environment?: "Production" | "Sandbox";
  /** PEM of the roots that a chain must lead to. Default: Apple Root CA - G3. */
  readonly rootCertificates?: string | readonly string[];
}

/** Extensions of Apple's certificates that sign for the App Store, and of the authority that issues those. */
const TRUST = {
  leafExtensions: ["1.2.840.113635.100.6.11.1"],
  issuerExtensions: ["1.2.840.113635.100.6.2.1"],
};
const PAYLOAD = "body.signedPayload";

/**
 * App Store Server Notifications, version 2: `signedPayload` of the body is a JWS, ES256 by the certificate in its
 * `x5c`, whose chain leads to Apple's root. Bundle, app and environment must be ours. The JWSs inside, of the
 * transaction and the renewal, are decoded; the outer signature covers them. Revocation is not checked, and
 * certificates must be valid now. Any of 200 to 206 is success. Apple retries after 1, 12, 24, 48 and 72 hours, not in
 * the sandbox. Source: @apple/app-store-server-library `jws_verification.ts`; developer.apple.com, "Responding to App
 * Store Server Notifications".
 */
export const appleAppStore = optionsPreset<AppleAppStoreOptions>("apple-app-store", {
  docs: "https://developer.apple.com/documentation/appstoreservernotifications/enabling-app-store-server-notifications",
  proof: "verifies",
  retryHours: 157,
  signs: "JWS (ES256, `x5c` chain to Apple's root), in the body",
  decode: [
    { at: PAYLOAD, as: "jws" },
    { at: `${PAYLOAD}.data.signedTransactionInfo`, as: "jws" },
    { at: `${PAYLOAD}.data.signedRenewalInfo`, as: "jws" },
  ],
  id: `${PAYLOAD}.notificationUUID`,
  type: [`{${PAYLOAD}.notificationType}.{${PAYLOAD}.subtype}`, `${PAYLOAD}.notificationType`],
  eventTime: { at: `${PAYLOAD}.signedDate`, unit: "milliseconds" },
  data: PAYLOAD,
  hasSignedTime: true,
  options: { bundleId: "required", appAppleId: "optional", environment: "optional", rootCertificates: "optional" },
  make(options) {
    const app = appOf(options);
    const roots = [options.rootCertificates ?? APPLE_ROOT_CA_G3].flat().flatMap(readRoots);
    return {
      ...(app.environment === "Sandbox" && { facts: { retryHours: 0 } }),
      secrets: [],
      credential: { fields: ["signedPayload"] },
      scheme: ({ clock }) =>
        platformJwt({
          algorithm: "ES256",
          keys: x5cKeys({ roots, ...TRUST }, clock),
          header: tokenInBody("signedPayload"),
          clockToleranceSeconds: 0,
          requiredClaims: [],
          checkClaims: (claims) => appFault(claims as { [name: string]: JsonValue }, app),
          clock,
        }),
    };
  },
});

interface App {
  readonly bundleId: string;
  readonly appAppleId: number | undefined;
  readonly environment: "Production" | "Sandbox";
}

function appOf({ bundleId, appAppleId, environment = "Production" }: AppleAppStoreOptions): App {
  requireText("bundleId", bundleId, "com.example.app");
  assertOneOf("environment", environment, ["Production", "Sandbox"]);
  const isMissing = appAppleId === undefined && environment === "Production";
  if (isMissing || (appAppleId !== undefined && !Number.isSafeInteger(appAppleId)))
    throw wrongOption("appAppleId", appAppleId, "an integer such as 1234567890");
  return { bundleId, appAppleId, environment };
}

function readRoots(pem: string) {
  try {
    return readCertificates(pem);
  } catch (cause) {
    throw new OptionError({ option: "rootCertificates", problem: errorReason(cause) }, { cause });
  }
}

/** The part of a notification that is of another app, as `verifyAndDecodeNotification` of Apple's library looks at it. */
function appFault(claims: { [name: string]: JsonValue }, app: App): string | undefined {
  const places = ["data", "summary", "externalPurchaseToken", "appData"];
  const place = places.find((name) => isJsonObject(claims[name]));
  const payload = claims[place ?? ""];
  if (place === undefined || !isJsonObject(payload)) return `expected one of ${places.join(", ")}`;
  const environment =
    place === "externalPurchaseToken" ? environmentOf(payload.externalPurchaseId) : payload.environment;
  if (payload.bundleId !== app.bundleId) return `${place}.bundleId: expected ${app.bundleId}`;
  if (environment !== app.environment) return `${place}.environment: expected ${app.environment}`;
  if (app.environment === "Production" && payload.appAppleId !== app.appAppleId)
    return `${place}.appAppleId: expected ${app.appAppleId}`;
  return undefined;
}

function environmentOf(externalPurchaseId: JsonValue | undefined): App["environment"] {
  const isSandbox = typeof externalPurchaseId === "string" && externalPurchaseId.startsWith("SANDBOX");
  return isSandbox ? "Sandbox" : "Production";
}
