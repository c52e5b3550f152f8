import { sign } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { visitAddress } from "../../src/sources/contract/visit.ts";
import type { SourceDefinition } from "../../src/sources/index.ts";
import { awsSns } from "../../src/sources/platforms/index.ts";
import { type Issued, issueCertificate } from "../support/certificate-chain.ts";
import { type Dialect, describeFullOnPostgres } from "../support/databases.ts";
import { withHttpsServer } from "../support/http-server.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const TOPIC = "arn:aws:sns:us-east-1:123456789012:orders";
const SNS = "https://sns.us-east-1.amazonaws.com";
const CONFIRM = "/?Action=ConfirmSubscription&TopicArn=orders&Token=2336412f37";

type Message = Readonly<Record<string, string>>;

const NOTIFICATION: Message = {
  Type: "Notification",
  MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
  TopicArn: TOPIC,
  Message: '{"order":1}',
  Timestamp: "2026-03-04T11:59:59.123Z",
};
const CONFIRMATION: Message = {
  ...NOTIFICATION,
  Type: "SubscriptionConfirmation",
  Token: "2336412f37",
  SubscribeURL: SNS + CONFIRM,
};

/** docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message-verify-message-signature.html */
function stringToSign(message: Message): string {
  const own = message.Type === "Notification" ? [] : ["SubscribeURL", "Token"];
  const names = ["Message", "MessageId", "Timestamp", "TopicArn", "Type", ...own].toSorted();
  return names.map((name) => `${name}\n${message[name]}\n`).join("");
}

interface Sns {
  readonly receiver: TestReceiver;
  /** What the server was asked for beside its certificate. */
  readonly visits: string[];
  /** How the next visits are answered; a success when it is empty. */
  readonly answers: number[];
  /** Posts a message as it was signed, with these fields changed afterwards. */
  post(message: Message, changed?: Message): Promise<number>;
}

let signer: Issued;
beforeAll(async () => {
  signer = await issueCertificate({ subject: "sns.amazonaws.com" });
});

/** An SNS of our own over TLS, which the name of the real one leads to; what is pinned is as in production. */
function withSns(dialect: Dialect, use: (sns: Sns) => Promise<void>): Promise<void> {
  const visits: string[] = [];
  const answers: number[] = [];
  return withHttpsServer(
    ({ method, url }, response) => {
      if (url === "/sns.pem") return response.end(signer.pem);
      visits.push(`${method} ${url}`);
      response.writeHead(answers.shift() ?? 200, { location: "/elsewhere" }).end("<ok/>");
    },
    (server) => {
      const pin = { host: /^127\.0\.0\.1:\d+$/, path: /^\/sns\.pem$/ };
      const preset = awsSns({
        topics: TOPIC,
        certificates: { pin, hosts: () => ["sns.amazonaws.com"] },
      });
      const source: SourceDefinition = {
        ...preset,
        createContract: (environment) =>
          preset.createContract({ ...environment, visit: (url) => visitAddress(url.replace(SNS, server)) }),
      };
      return withReceiver(
        dialect,
        async (receiver) => {
          const post: Sns["post"] = async (message, changed = {}) => {
            const signature = sign("sha256", Buffer.from(stringToSign(message)), signer.privateKey);
            const signed = { SignatureVersion: "2", Signature: signature.toString("base64") };
            const response = await fetch(`${receiver.publicOrigin}/api/sns/callback`, {
              method: "POST",
              headers: { "content-type": "text/plain; charset=UTF-8" },
              body: JSON.stringify({
                ...message,
                ...signed,
                SigningCertURL: `${server}/sns.pem`,
                ...changed,
              }),
            });
            await response.arrayBuffer();
            return response.status;
          };
          await use({ receiver, visits, answers, post });
        },
        { sources: { sns: source } },
      );
    },
  );
}

const loggedOutcome = async (receiver: TestReceiver) => {
  const { items } = (await receiver.admin("/api/v1/callbacks?source=sns")).body as {
    items: { outcome: string }[];
  };
  return items[0]?.outcome;
};

describeFullOnPostgres("a subscription of Amazon SNS on %s", (dialect) => {
  it("a confirmation is visited once over TLS and leaves no record, and the topic's messages are handled", () =>
    withSns(dialect, async ({ receiver, visits, post }) => {
      expect(await post(CONFIRMATION)).toBe(200);
      expect(visits).toEqual([`GET ${CONFIRM}`]);
      expect(await receiver.count("oncehook_records")).toBe(0);
      await until(async () => (await loggedOutcome(receiver)) === "handshake");
      expect(await post(NOTIFICATION)).toBe(200);
      expect(await post(NOTIFICATION)).toBe(200);
      expect(await receiver.count("oncehook_records", "source = 'sns'")).toBe(1);
      expect(visits).toHaveLength(1);
    }));

  it.each([302, 403, 500])("a visit that is answered with %i returns 503, so that SNS asks again", (status) =>
    withSns(dialect, async ({ receiver, visits, answers, post }) => {
      answers.push(status);
      expect(await post(CONFIRMATION)).toBe(503);
      await until(async () => (await loggedOutcome(receiver)) === "handshake_failed");
      expect(await post(CONFIRMATION)).toBe(200);
      expect(visits).toEqual([`GET ${CONFIRM}`, `GET ${CONFIRM}`]);
    }),
  );

  it.each([
    ["an address that was changed after it was signed", CONFIRMATION, { SubscribeURL: `${SNS}/other` }, 401],
    ["a topic that is not ours", { ...CONFIRMATION, TopicArn: `${TOPIC}-of-others` }, {}, 401],
    ["an address of another host", { ...CONFIRMATION, SubscribeURL: "https://evil.example/" }, {}, 400],
    ["an address without TLS", { ...CONFIRMATION, SubscribeURL: `http${SNS.slice(5)}/` }, {}, 400],
  ])("a confirmation with %s is refused, and nothing is visited", (_, message, changed, status) =>
    withSns(dialect, async ({ visits, post }) => {
      expect(await post(message, changed)).toBe(status);
      expect(visits).toEqual([]);
    }),
  );
});
