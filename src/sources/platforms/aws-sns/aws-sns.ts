import type { TextPlace } from "../../contract/locate.ts";
import { wrongOption } from "../../option-error.ts";
import { optionsPreset } from "../../presets/preset.ts";
import { requiredTexts, type SecretOption } from "../../presets/secrets.ts";
import type { SourceSettings } from "../../source-definition.ts";
import { createSnsScheme, type SnsOptions } from "./aws-sns-scheme.ts";

export interface AwsSnsOptions extends SourceSettings, Pick<SnsOptions, "certificates"> {
  /** The ARNs of the topics whose messages are ours. Any AWS account can have SNS send a signed message anywhere. */
  readonly topics: SecretOption;
  /** The place of an event's type, such as `body.Message.detail-type`. Default: the ARN of its topic. */
  readonly type?: TextPlace | readonly TextPlace[];
}

const ARN = /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_.-]{1,256}$/;
/** The same as of its certificates. */
const HOST = /^sns\.[a-z]{2}[a-z0-9-]{3,30}\.amazonaws\.com(?:\.cn)?$/;

/**
 * Amazon SNS: a signature inside the message, RSA over some of its fields. Its key is that of the certificate at
 * `SigningCertURL`. A subscription is confirmed by a request to `SubscribeURL`, whose host is pinned.
 * `MessageAttributes` and `UnsubscribeURL` are not signed; raw message delivery has no signature and is refused.
 * Source: sns-validator `index.js`, aws-sdk-java-v2 `SigningCertUrlParser`; docs.aws.amazon.com/sns/latest/dg,
 * "Verifying the signatures" and "HTTP/HTTPS delivery". A message that is JSON is decoded.
 */
export const awsSns = optionsPreset<AwsSnsOptions>("aws-sns", {
  title: "Amazon SNS",
  docs: "https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html",
  proof: "verifies",
  deadlineSeconds: 15,
  retryHours: 1,
  renewsTimestamp: false,
  unsigned: "MessageAttributes and UnsubscribeURL",
  signs: "RSA over fields of the body, by the certificate at `SigningCertURL`",
  decode: [{ at: "body.Message", as: "json" }],
  id: "body.MessageId",
  type: "body.TopicArn",
  eventTime: { at: "body.Timestamp", unit: "iso" },
  hasSignedTime: true,
  handshakes: [
    {
      isSigned: true,
      when: { "body.Type": "SubscriptionConfirmation" },
      reply: { kind: "visit", at: "body.SubscribeURL", hosts: [HOST] },
    },
    // A visit to its SubscribeURL would subscribe again.
    { isSigned: true, when: { "body.Type": "UnsubscribeConfirmation" }, reply: { kind: "status", status: 200 } },
  ],
  options: { topics: "required", type: "optional", certificates: "optional" },
  make(options) {
    const { certificates, type = "body.TopicArn" } = options;
    const topics = requiredTexts(options.topics, "topics");
    const wrong = topics.find((topic) => !ARN.test(topic));
    const expected = "an ARN such as arn:aws:sns:eu-central-1:123456789012:orders";
    if (wrong !== undefined) throw wrongOption("topics", wrong, expected);
    return {
      secrets: [],
      credential: { fields: ["Signature"] },
      scheme: ({ clock }) => createSnsScheme({ topics, clock, ...(certificates !== undefined && { certificates }) }),
      contract: { type },
    };
  },
});
