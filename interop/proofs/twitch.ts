import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { EventSubMiddleware } from "@twurple/eventsub-http";
import { twitch } from "../../src/sources/platforms/index.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

const USER = "1337";

const subscription = (status: string, now: Date) => ({
  id: "f1c2a387-161a-49f9-a165-0f21d7a4e1c4",
  status,
  type: "stream.online",
  version: "1",
  condition: { broadcaster_user_id: USER },
  transport: { method: "webhook", callback: "https://callbacks.example/api/twitch/callback" },
  created_at: now.toISOString(),
  cost: 0,
});

function signed(event: ProofEvent, kind: string, body: object): ProofRequest {
  return signedByPreset(twitch({ secret: event.secret }), event, {
    headers: {
      "twitch-eventsub-message-id": event.id,
      "twitch-eventsub-message-type": kind,
      "twitch-eventsub-message-retry": "0",
      "twitch-eventsub-subscription-type": "stream.online",
      "twitch-eventsub-subscription-version": "1",
    },
    body: JSON.stringify(body),
  });
}

/**
 * Sends the request to the library's own route. Its type, which Twitch does not sign, is `revocation`, since the library
 * keeps a timer for each notification.
 */
async function isTaken({ headers, body }: ProofRequest, secret: string): Promise<boolean> {
  const listener = new EventSubMiddleware({
    managed: false,
    secret,
    hostName: "callbacks.example",
    logger: { minLevel: "critical" },
  } as never);
  const { id } = listener.onStreamOnline(USER, () => undefined) as unknown as { id: string };
  let route: ((...of: unknown[]) => Promise<void>) | undefined;
  const router = {
    post: (path: string, handle: typeof route) => {
      if (path.endsWith("/:id") && path.includes("event")) route = handle;
    },
    get: () => undefined,
  };
  listener.apply(router as never);
  return statusBy(
    (request, response) =>
      void route?.(Object.assign(request, { params: { id } }), response, () => {
        response.writeHead(400).end();
      }),
    { headers: { ...headers, "twitch-eventsub-message-type": "revocation" }, body },
  ).then((status) => status === 202);
}

async function statusBy(listener: RequestListener, { headers, body }: ProofRequest): Promise<number> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  try {
    const init = { method: "POST", headers, body: new Uint8Array(body) };
    return (await fetch(`http://127.0.0.1:${port}/`, init)).status;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

export const twitchProof: PlatformProof = {
  preset: "twitch",
  by: "@twurple/eventsub-http, EventSubMiddleware, a community library: Twitch has no SDK, and its CLI is in Go",
  secrets: ["a secret of the subscription", "the secret of the one before", "a third secret of it"],
  source: (secrets) => twitch({ secret: secrets }),
  callback: (event) =>
    signed(event, "notification", {
      subscription: subscription("enabled", event.now),
      event: {
        id: "9001",
        broadcaster_user_id: USER,
        broadcaster_user_login: "cool_user",
        broadcaster_user_name: "Cööl_User",
        type: "live",
        started_at: event.now.toISOString(),
      },
    }),
  accepts: (request, { secret }) => isTaken(request, secret),
  toleranceSeconds: null,
  handshakes: [
    {
      title: "webhook_callback_verification",
      request: (event) =>
        signed(event, "webhook_callback_verification", {
          challenge: "pogchamp-kappa-360noscope-vohiyo",
          subscription: subscription("webhook_callback_verification_pending", event.now),
        }),
      response: { status: 200, body: "pogchamp-kappa-360noscope-vohiyo" },
    },
  ],
};
