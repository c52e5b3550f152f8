import type { TextPlace } from "../contract/locate.ts";
import { wrongOption } from "../option-error.ts";
import { createAddressedScheme } from "../presets/jwt-preset.ts";
import { requireHttps, requireText } from "../presets/options.ts";
import { optionsPreset } from "../presets/preset.ts";
import { requiredTexts, type SecretOption } from "../presets/secrets.ts";
import { jwksKeys } from "../schemes/jwks-keys.ts";
import type { SourceSettings } from "../source-definition.ts";

export interface GooglePubSubOptions extends SourceSettings {
  /** The email of the service account that the subscription authenticates with; several while one replaces another. */
  readonly serviceAccount: SecretOption;
  /** As it is configured in the subscription. Default: the registered address, which Google takes where none is. */
  readonly audience?: string;
  /** The place of an event's type. Default: the attribute `eventType`, or the subscription's name. */
  readonly type?: TextPlace | readonly TextPlace[];
  /** Google's keys, where they are reached through another address. */
  readonly keysUrl?: string;
}

const KEYS_URL = "https://www.googleapis.com/oauth2/v3/certs";
const ISSUERS = ["https://accounts.google.com", "accounts.google.com"];
const EMAIL = /^[^\s@]{1,128}@[^\s@]{1,128}$/;

const TYPE = ["body.message.attributes.eventType", "body.subscription"];

/**
 * Google Cloud Pub/Sub, push subscriptions with authentication: `Authorization: Bearer`, an OpenID Connect token, RS256
 * with Google's keys. It is for the configured audience and by the configured service account. Note that **the body is
 * not signed**: only TLS protects it, and the token lasts an hour. Without the service account's email any Google
 * account could send a token for a known audience. A message whose data is JSON in base64 is decoded. Any of 102, 200,
 * 201, 202 and 204 acknowledges. Source: google-auth-library `verifySignedJwtWithCertsAsync`;
 * docs.cloud.google.com/pubsub/docs/authenticate-push-subscriptions and /push (ack deadline: 10 s by default).
 */
export const googlePubSub = optionsPreset<GooglePubSubOptions>("google-pubsub", {
  title: "Google Cloud Pub/Sub",
  docs: "https://docs.cloud.google.com/pubsub/docs/authenticate-push-subscriptions",
  proof: "verifies",
  identity: {
    why: "`messageId` is unique within its topic",
    source: "https://cloud.google.com/pubsub/docs/reference/rest/v1/PubsubMessage",
  },
  deadlineSeconds: 10,
  // 10 MB of data ("Quotas and limits"), in base64.
  maxBodyBytes: 14_000_000,
  unsigned: "the body",
  signs: "JWT (RS256, Google's keys) for the address",
  decode: [{ at: "body.message.data", as: "base64-json" }],
  id: "body.message.messageId",
  type: TYPE,
  eventTime: { at: "body.message.publishTime", unit: "iso", isSigned: false },
  data: "body.message",
  isIdSigned: false,
  options: { serviceAccount: "required", audience: "optional", type: "optional", keysUrl: "optional" },
  make(options) {
    const { audience, type = TYPE } = options;
    const accounts = requiredTexts(options.serviceAccount, "serviceAccount");
    const wrong = accounts.find((account) => !EMAIL.test(account));
    const expected = "an email such as push@project.iam.gserviceaccount.com";
    if (wrong !== undefined) throw wrongOption("serviceAccount", wrong, expected);
    if (audience !== undefined) requireText("audience", audience, "https://hooks.example.com");
    const keysUrl = requireHttps("keysUrl", options.keysUrl ?? KEYS_URL);
    return {
      secrets: [],
      credential: { headers: ["Authorization"] },
      scheme: (environment) =>
        createAddressedScheme(
          {
            algorithm: "RS256",
            keys: jwksKeys(keysUrl, undefined, "Google's keys"),
            header: "Authorization",
            issuer: ISSUERS,
            checkClaims: ({ email, email_verified }) => {
              if (typeof email !== "string" || !accounts.includes(email))
                return `email: expected ${accounts.join(" or ")}`;
              return email_verified === true ? undefined : "email_verified: expected true";
            },
          },
          environment,
          audience,
        ),
      contract: { type },
      signsPath: audience === undefined,
      signsAddress: audience === undefined,
    };
  },
});
