import { sign } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { createSnsScheme, type SnsOptions } from "../../../src/sources/platforms/aws-sns/aws-sns-scheme.ts";
import { type Issued, issueCertificate } from "../../support/certificate-chain.ts";
import { withHttpsServer } from "../../support/http-server.ts";
import { POSTED } from "../../support/posted.ts";

const NOW = new Date("2026-03-04T12:00:00Z");
const TOPIC = "arn:aws:sns:us-east-1:123456789012:orders";
const NAMES = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
};

type Message = Record<string, unknown>;

const NOTIFICATION: Message = {
  Type: "Notification",
  MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
  TopicArn: TOPIC,
  Message: "two\nlines, für Zoë \u{1f600}",
  Timestamp: "2026-03-04T11:59:59.123Z",
  UnsubscribeURL: "https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe",
};
const CONFIRMATION: Message = {
  ...NOTIFICATION,
  Type: "SubscriptionConfirmation",
  Token: "2336412f37",
  SubscribeURL: "https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription",
};

/** As docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message-verify-message-signature.html builds it. */
function stringToSign(message: Message): string {
  const names = NAMES[message.Type as keyof typeof NAMES] ?? NAMES.SubscriptionConfirmation;
  return names
    .filter((name) => typeof message[name] === "string")
    .map((name) => `${name}\n${message[name]}\n`)
    .join("");
}

describe("a message of Amazon SNS", () => {
  let signer: Issued;
  let stranger: Issued;

  beforeAll(async () => {
    signer = await issueCertificate({ subject: "sns.amazonaws.com" });
    stranger = await issueCertificate({ subject: "evil.example" });
  });

  interface Sns {
    readonly origin: string;
    readonly asked: string[];
    post(body: unknown, over?: Partial<SnsOptions>): Promise<unknown>;
    /** Signed, with the address of the certificate. */
    send(message: Message, version?: "1" | "2", over?: Partial<SnsOptions>): Promise<unknown>;
  }

  /** An SNS of our own, whose certificates are pinned as those of AWS are. */
  function withSns(use: (sns: Sns) => Promise<void>): Promise<void> {
    const asked: string[] = [];
    return withHttpsServer(
      (request, response) => {
        asked.push(request.url ?? "");
        response.end(request.url === "/evil.pem" ? stranger.pem : signer.pem);
      },
      (origin) => {
        const pin = { host: /^127\.0\.0\.1:\d+$/, path: /^\/[a-z]+\.pem$/ };
        const certificates = { pin, hosts: () => ["sns.amazonaws.com"] };
        const scheme = createSnsScheme({ topics: [TOPIC], clock: { now: () => NOW }, certificates });
        const post = async (body: unknown, over?: Partial<SnsOptions>) => {
          const options = { topics: [TOPIC], clock: { now: () => NOW }, certificates, ...over };
          const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
          const used = over === undefined ? scheme : createSnsScheme(options);
          return used.verify({ ...POSTED, headers: {}, body: bytes });
        };
        const send: Sns["send"] = (message, version = "2", over) =>
          post({ ...signed(message, version), SigningCertURL: `${origin}/sns.pem` }, over);
        return use({ origin, asked, post, send });
      },
    );
  }

  function signed(message: Message, version: "1" | "2" = "2", by = signer): Message {
    const made = sign(version === "1" ? "sha1" : "sha256", Buffer.from(stringToSign(message)), by.privateKey);
    return { ...message, SignatureVersion: version, Signature: made.toString("base64") };
  }

  it("a message of SNS is accepted in both versions, and its certificate is fetched once", () =>
    withSns(async ({ send, asked }) => {
      for (const version of ["1", "2"] as const) {
        for (const message of [NOTIFICATION, CONFIRMATION, { ...NOTIFICATION, Subject: "a subject" }])
          expect(await send(message, version)).toMatchObject({
            verified: [{ method: "public_key", index: 0 }],
          });
      }
      expect(await send({ ...CONFIRMATION, Type: "UnsubscribeConfirmation" })).toHaveProperty("verified");
      expect(asked).toEqual(["/sns.pem"]);
    }));

  it("a message of raw delivery is refused, and the refusal names the setting", async () => {
    const scheme = createSnsScheme({ topics: [TOPIC], clock: { now: () => NOW } });
    const raw = { ...POSTED, headers: { "x-amz-sns-rawdelivery": ["true"] }, body: Buffer.from("order 1") };
    expect(await scheme.verify(raw)).toMatchObject({
      code: "signature_missing",
      detail: expect.stringContaining("raw message delivery is on"),
    });
  });

  it("a message of SNS is refused after a change in any signed field", () =>
    withSns(async ({ post, origin }) => {
      const SigningCertURL = `${origin}/sns.pem`;
      for (const message of [NOTIFICATION, CONFIRMATION]) {
        for (const name of ["Message", "MessageId", "Timestamp", "Token", "SubscribeURL"]) {
          if (message[name] === undefined) continue;
          const changed = { ...signed(message), SigningCertURL, [name]: `${message[name]}x` };
          expect(await post(changed)).toMatchObject({ code: "signature_mismatch" });
        }
        expect(await post({ ...signed(message), SigningCertURL, Subject: "another" })).toMatchObject(
          message === NOTIFICATION ? { code: "signature_mismatch" } : { verified: expect.any(Array) },
        );
      }
      const version = { ...signed(NOTIFICATION, "2"), SigningCertURL, SignatureVersion: "1" };
      expect(await post(version)).toMatchObject({ code: "signature_mismatch" });
    }));

  it("a message of SNS cannot be divided into other fields of the same signed bytes", () =>
    withSns(async ({ post, origin }) => {
      const crafted: Message = { ...NOTIFICATION, Message: "hello\nMessageId\nforged\nSubject\ny" };
      const genuine = signed(crafted);
      const forged = {
        ...genuine,
        Message: "hello",
        MessageId: "forged",
        Subject: `y\nMessageId\n${crafted.MessageId}`,
      };
      expect(stringToSign(forged)).toBe(stringToSign(genuine));
      const SigningCertURL = `${origin}/sns.pem`;
      expect(await post({ ...genuine, SigningCertURL })).toHaveProperty("verified");
      expect(await post({ ...forged, SigningCertURL })).toMatchObject({
        code: "signature_malformed",
        detail: "`Subject`: holds a line break",
      });
    }));

  it("a message of another topic, which any account can have signed, is refused without a request", () =>
    withSns(async ({ send, asked }) => {
      const TopicArn = "arn:aws:sns:us-east-1:666666666666:orders";
      expect(await send({ ...NOTIFICATION, TopicArn })).toMatchObject({
        code: "signature_mismatch",
        detail: "`TopicArn`: none of the configured topics",
      });
      expect(asked).toEqual([]);
    }));

  it("a message of SNS whose certificate is of another owner is refused, and none beside the pin is asked for", () =>
    withSns(async ({ post, origin, asked }) => {
      const message = signed(NOTIFICATION, "2", stranger);
      expect(await post({ ...message, SigningCertURL: `${origin}/evil.pem` })).toMatchObject({
        code: "signature_mismatch",
        detail: "`SigningCertURL`: its certificate is for another host, expected sns.amazonaws.com",
      });
      for (const SigningCertURL of [`${origin}/evil.pem?a`, `${origin}/../evil.pem`, "http://127.0.0.1/evil.pem", 1])
        expect(await post({ ...message, SigningCertURL })).toMatchObject({
          detail: "`SigningCertURL`: its address is not one of the platform's",
        });
      expect(asked).toEqual(["/evil.pem"]);
    }));

  it.each([
    "https://sns.us-east-1.amazonaws.com/?Action=GetTopicAttributes&x=SimpleNotificationService-0123456789abcdef0123456789abcdef.pem",
    "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-short.pem",
    "https://s3.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem",
    "https://sns.amazonaws.com.evil.example/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem",
    "https://sns.us-east-1.amazonaws.com.evil.example/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem",
  ])("a message of SNS with the certificate at %s is refused without a request", async (SigningCertURL) => {
    const scheme = createSnsScheme({ topics: [TOPIC], clock: { now: () => NOW } });
    const body = Buffer.from(JSON.stringify({ ...signed(NOTIFICATION), SigningCertURL }));
    expect(await scheme.verify({ ...POSTED, headers: {}, body })).toMatchObject({
      code: "signature_mismatch",
      detail: "`SigningCertURL`: its address is not one of the platform's",
    });
  });

  it.each([
    ["no signature", { Signature: undefined }, "signature_missing"],
    ["a signature in another encoding", { Signature: "ab-_" }, "signature_malformed"],
    ["an unknown version", { SignatureVersion: "3" }, "signature_malformed"],
    ["an unknown type", { Type: "toString" }, "signature_malformed"],
    ["a message that is no text", { Message: { a: 1 } }, "signature_malformed"],
    ["a message with a lone surrogate", { Message: "\ud800" }, "signature_malformed"],
    ["no id", { MessageId: undefined }, "signature_malformed"],
    ["a subject that is no text", { Subject: 5 }, "signature_malformed"],
  ])("a message of SNS with %s is refused", (_title, over, code) =>
    withSns(async ({ post, origin }) => {
      const SigningCertURL = `${origin}/sns.pem`;
      expect(await post({ ...signed(NOTIFICATION), SigningCertURL, ...over })).toMatchObject({ code });
    }),
  );

  it("a body that is no message of SNS is refused", () =>
    withSns(async ({ post }) => {
      for (const body of ["hello", "[]", "{", "[".repeat(5_000)])
        expect(await post(body)).toMatchObject({ code: "signature_malformed" });
      for (const body of ["", "{}"]) expect(await post(body)).toMatchObject({ code: "signature_missing" });
    }));

  it("a scheme of SNS without a topic is refused", () => {
    expect(() => createSnsScheme({ topics: [], clock: { now: () => NOW } })).toThrow("`topics`: got none");
  });
});
