import { sign } from "node:crypto";
import { createRequire } from "node:module";
import { awsSns } from "../../src/sources/platforms/index.ts";
import { issueCertificate } from "../../test/support/certificate-chain.ts";
import { startKeyServer } from "../key-server.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "../platform-proof.ts";

interface Validator {
  validate(message: object, done: (error: Error | null) => void): void;
}

const MessageValidator = createRequire(import.meta.url)("sns-validator") as new (host: RegExp) => Validator;
const sdk = new MessageValidator(/^127\.0\.0\.1:\d+$/);

const signer = await issueCertificate({ subject: "sns.amazonaws.com" });
let origin = "";

const NAMES = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];

/** docs.aws.amazon.com/sns, "Verifying the signatures of Amazon SNS messages". */
function message(fields: Record<string, string>): ProofRequest {
  const names = NAMES.filter((name) => fields[name] !== undefined);
  const text = names.map((name) => `${name}\n${fields[name]}\n`).join("");
  const Signature = sign("sha256", Buffer.from(text), signer.privateKey).toString("base64");
  const body = { ...fields, SignatureVersion: "2", Signature, SigningCertURL: `${origin}/signer.pem` };
  return {
    headers: { "content-type": "text/plain; charset=UTF-8", "x-amz-sns-message-type": fields.Type ?? "" },
    body: Buffer.from(JSON.stringify(body)),
  };
}

const common = ({ secret, id, now }: ProofEvent) => ({
  MessageId: id,
  TopicArn: secret,
  Timestamp: now.toISOString(),
});

export const awsSnsProof: PlatformProof = {
  preset: "aws-sns",
  by: "sns-validator, validate",
  secrets: [
    "arn:aws:sns:us-east-1:123456789012:orders",
    "arn:aws:sns:eu-central-1:123456789012:orders.fifo",
    "arn:aws-cn:sns:cn-north-1:123456789012:orders",
  ],
  start: () =>
    startKeyServer(
      (request, response) => {
        const isSigner = request.url === "/signer.pem";
        response.writeHead(isSigner ? 200 : 404).end(isSigner ? signer.pem : "");
      },
      (address) => {
        origin = address;
      },
    ),
  source: (topics) => {
    const pin = { host: /^127\.0\.0\.1:\d+$/, path: /^\/[a-z]+\.pem$/ };
    return awsSns({ topics, certificates: { pin, hosts: () => ["sns.amazonaws.com"] } });
  },
  callback: (event) => message({ Type: "Notification", Message: '{"order":"für Zoë"}', ...common(event) }),
  accepts: ({ body }) =>
    new Promise((resolve) => {
      try {
        sdk.validate(JSON.parse(Buffer.from(body).toString("utf8")), (error) => resolve(error === null));
      } catch {
        resolve(false);
      }
    }),
  toleranceSeconds: null,
  isSignedInBody: true,
  rotates: false,
  handshakes: [
    {
      title: "SubscriptionConfirmation",
      request: (event) =>
        message({
          Type: "SubscriptionConfirmation",
          Message: "You have chosen to subscribe to the topic.",
          SubscribeURL: "https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37",
          Token: "2336412f37",
          ...common(event),
        }),
      response: { status: 200, body: "" },
    },
  ],
};
