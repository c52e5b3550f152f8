import { createCipheriv, createHash, randomBytes } from "node:crypto";
import { EventDispatcher, generateChallenge, LoggerLevel } from "@larksuiteoapi/node-sdk";
import { lark } from "../../src/sources/platforms/index.ts";
import type { PlatformProof, ProofRequest } from "../platform-proof.ts";

const TYPE = "im.message.receive_v1";
const TOKEN = "v-the-verification-token";

/** As in the sample of the official page "Receive events": the IV, then AES-256-CBC. */
function encrypted(secret: string, event: object): string {
  const iv = randomBytes(16);
  const cipher = createCipheriv("aes-256-cbc", createHash("sha256").update(secret).digest(), iv);
  return Buffer.concat([iv, cipher.update(JSON.stringify(event)), cipher.final()]).toString("base64");
}

const bodyOf = (encrypt: string) => Buffer.from(JSON.stringify({ encrypt }));

function signed(secret: string, now: Date, body: Buffer): ProofRequest {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const hash = createHash("sha256").update(`${timestamp}nonce-1${secret}`).update(body);
  return {
    headers: {
      "x-lark-request-timestamp": timestamp,
      "x-lark-request-nonce": "nonce-1",
      "x-lark-signature": hash.digest("hex"),
      "content-type": "application/json",
    },
    body,
  };
}

function parsed(text: string): object | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const question = { challenge: "ajls384kdjx98XX", token: TOKEN, type: "url_verification" };

export const larkProof: PlatformProof = {
  preset: "lark",
  by: "@larksuiteoapi/node-sdk, EventDispatcher.invoke and generateChallenge",
  secrets: ["the Encrypt Key of an app", "a second Encrypt Key of it", "a third Encrypt Key of it"],
  source: (secrets) => lark({ secret: secrets, verificationToken: TOKEN }),
  callback({ secret, id, now }) {
    const event = {
      schema: "2.0",
      header: {
        event_id: id,
        token: TOKEN,
        create_time: String(now.getTime()),
        event_type: TYPE,
        tenant_key: "736588c9260f175d",
        app_id: "cli_9f5343c580712544",
      },
      event: { message: { message_id: "om_5ce6d572455d361153b7cb51da133945" } },
    };
    return signed(secret, now, bodyOf(encrypted(secret, event)));
  },
  async accepts({ headers, body }, { secret, id }) {
    const data = parsed(Buffer.from(body).toString());
    if (data === undefined) return false;
    let found: unknown;
    const dispatcher = new EventDispatcher({ encryptKey: secret, loggerLevel: LoggerLevel.fatal }).register({
      [TYPE]: (event: { event_id?: string }) => {
        found = event.event_id;
      },
    });
    await dispatcher.invoke(Object.assign(Object.create({ headers }), data));
    return found === id;
  },
  toleranceSeconds: null,
  handshakes: [
    {
      title: "an encrypted challenge, which Lark does not sign",
      request: ({ secret }) => {
        const encrypt = encrypted(secret, question);
        const { challenge } = generateChallenge({ encrypt }, { encryptKey: secret });
        if (challenge.challenge !== question.challenge) throw new Error("the SDK reads another challenge");
        return { headers: {}, body: bodyOf(encrypt) };
      },
      response: { status: 200, body: '{"challenge":"ajls384kdjx98XX"}' },
    },
    {
      title: "an encrypted challenge that is signed all the same",
      request: ({ secret, now }) => signed(secret, now, bodyOf(encrypted(secret, question))),
      response: { status: 200, body: '{"challenge":"ajls384kdjx98XX"}' },
    },
  ],
};
