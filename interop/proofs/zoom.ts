import { AwsLambdaReceiver } from "@zoom/rivet/meetings";
import { zoom } from "../../src/sources/platforms/index.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

const SECRETS = ["J5q_first_of_the_tokens", "J5q_second_of_the_tokens", "J5q_third_of_the_tokens"] as const;

async function rivetAnswer({ headers, body }: ProofRequest, secret: string) {
  const receiver = new AwsLambdaReceiver({ webhooksSecretToken: secret });
  const event = { headers, body: Buffer.from(body).toString(), isBase64Encoded: false };
  const { debug } = console;
  // It prints each request.
  console.debug = () => undefined;
  try {
    return (await receiver.start()(event as never, {} as never)) as { statusCode: number; body: string };
  } finally {
    console.debug = debug;
  }
}

const validation = (event: ProofEvent) =>
  signedByPreset(zoom({ secret: event.secret }), event, {
    body: '{"payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1654503849680,"event":"endpoint.url_validation"}',
  });

/** What Zoom's library answers itself. */
const { plainToken, encryptedToken } = JSON.parse(
  (
    await rivetAnswer(
      validation({ secret: SECRETS[0], id: "", now: new Date(), url: "https://a.example/" }),
      SECRETS[0],
    )
  ).body,
) as Record<string, string>;

export const zoomProof: PlatformProof = {
  preset: "zoom",
  by: "@zoom/rivet, AwsLambdaReceiver",
  secrets: SECRETS,
  source: (secrets) => zoom({ secret: secrets }),
  callback: (event) =>
    signedByPreset(zoom({ secret: event.secret }), event, {
      body: JSON.stringify({
        event: "meeting.started",
        payload: { account_id: "AAAAAABBBB", object: { id: event.id, topic: "grüße" } },
        event_ts: event.now.getTime(),
      }),
    }),
  async accepts(request, { secret }) {
    return (await rivetAnswer(request, secret)).statusCode === 200;
  },
  toleranceSeconds: null,
  handshakes: [
    {
      title: "endpoint.url_validation",
      request: validation,
      response: {
        status: 200,
        body: JSON.stringify({ plainToken, encryptedToken }),
      },
    },
  ],
};
