import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { SourceDefinition } from "../../src/sources/index.ts";
import { meta, whatsapp } from "../../src/sources/platforms/index.ts";
import type { PlatformProof, ProofEvent } from "../platform-proof.ts";

const VERIFY_TOKEN = "a verify token";

/** Meta's SDK does not export it. Its own server throws for every signed callback, since it joins a text as buffers. */
const { generateXHub256Sig } = loadSdk("whatsapp", "build/utils.js") as {
  generateXHub256Sig: (body: string, appSecret: string) => string;
};

function loadSdk(name: string, file: string): unknown {
  const require = createRequire(import.meta.url);
  return require(join(dirname(require.resolve(`${name}/package.json`)), file));
}

interface GraphProof {
  readonly preset: string;
  readonly source: (options: { readonly secret: readonly string[]; readonly verifyToken: string }) => SourceDefinition;
  readonly body: (event: ProofEvent) => object;
}

/** Every product of the Graph API signs its webhooks alike: with the app's secret, over the body. */
function graphProof({ preset, source, body }: GraphProof): PlatformProof {
  return {
    preset,
    by: "whatsapp 0.0.5-Alpha (WhatsApp/WhatsApp-Nodejs-SDK of Meta), generateXHub256Sig; the vector of its test",
    secrets: ["0123456789abcdef0123456789abcdef", "an app secret of before", "an app secret of long ago"],
    source: (secrets) => source({ secret: secrets, verifyToken: VERIFY_TOKEN }),
    callback(event) {
      const payload = JSON.stringify(body(event));
      return {
        headers: {
          "x-hub-signature-256": `sha256=${generateXHub256Sig(payload, event.secret)}`,
          "content-type": "application/json",
        },
        body: Buffer.from(payload),
      };
    },
    vector: () => ({
      // WhatsApp-Nodejs-SDK, src/__tests__/utils.test.ts, with the secret of its jest.config.ts.
      secret: "TEST_APP_SECRET",
      now: new Date(),
      request: {
        headers: {
          "x-hub-signature-256": "sha256=0c61947b610d4f45e65f3d680e26027121ec2413e77598bcb6cfc6e0d9888221",
        },
        body: Buffer.from("test"),
      },
    }),
    toleranceSeconds: null,
    handshakes: [
      {
        title: "the subscription of a new address",
        request: () => ({
          method: "GET",
          query: `?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${encodeURIComponent(VERIFY_TOKEN)}`,
          headers: {},
          body: Buffer.of(),
        }),
        response: { status: 200, body: "1158201444" },
      },
    ],
  };
}

const secondsOf = (now: Date) => Math.floor(now.getTime() / 1000);

export const metaProof = graphProof({
  preset: "meta",
  source: meta,
  body: ({ id, now }) => ({
    object: "page",
    entry: [
      {
        id: "682498302938465",
        time: secondsOf(now),
        messaging: [
          {
            sender: { id: "682498171943165" },
            recipient: { id: "682498302938465" },
            timestamp: now.getTime(),
            message: { mid: id, text: "grüße" },
          },
        ],
      },
    ],
  }),
});

export const whatsappProof = graphProof({
  preset: "whatsapp",
  source: whatsapp,
  body: ({ id, now }) => ({
    object: "whatsapp_business_account",
    entry: [
      {
        id: "102290129340398",
        changes: [
          {
            field: "messages",
            value: {
              messaging_product: "whatsapp",
              metadata: { display_phone_number: "15550783881", phone_number_id: "106540352242922" },
              messages: [
                {
                  from: "16505551234",
                  id,
                  timestamp: String(secondsOf(now)),
                  type: "text",
                  text: { body: "grüße" },
                },
              ],
            },
          },
        ],
      },
    ],
  }),
});
