import { isJsonObject, type JsonValue } from "../../domain/index.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Twitch EventSub: the message's type stands in an unsigned header, so that the signed body decides. A subscription
 * that is not enabled, without an event, is the event `revocation`. Twitch asks to refuse what is older than ten
 * minutes. Whether a retry has a new time is not documented. No age is checked, since the id is signed. Source:
 * https://dev.twitch.tv/docs/eventsub/handling-webhook-events; twitch-cli `internal/events/trigger/forward_event.go`,
 * which signs in Go. The proof is @twurple/eventsub-http.
 */
export const twitch = hmacPreset("twitch", {
  title: "Twitch EventSub",
  docs: "https://dev.twitch.tv/docs/eventsub/handling-webhook-events",
  proof: "community",
  disables: "too many responses are late or fail (the subscription is revoked)",
  signature: { header: "Twitch-Eventsub-Message-Signature", encoding: "hex", prefix: "sha256=" },
  signed: "{header.Twitch-Eventsub-Message-Id}{timestamp}{body}",
  timestamp: { header: "Twitch-Eventsub-Message-Timestamp", unit: "iso", toleranceSeconds: null },
  id: "header.Twitch-Eventsub-Message-Id",
  isIdSigned: true,
  type: ({ body }) => eventTypeOf(body),
  eventTime: { at: "header.Twitch-Eventsub-Message-Timestamp", unit: "iso", isSigned: true },
  hasSignedTime: true,
  headers: ["Twitch-Eventsub-Subscription-Type", "Twitch-Eventsub-Subscription-Version"],
  handshakes: [
    {
      isSigned: true,
      when: { "header.Twitch-Eventsub-Message-Type": "webhook_callback_verification", "body.challenge": true },
      reply: { kind: "text", at: "body.challenge" },
    },
  ],
});

function eventTypeOf(body: JsonValue | undefined): string | undefined {
  if (!isJsonObject(body) || !isJsonObject(body.subscription)) return undefined;
  const { status, type } = body.subscription;
  const isEvent = body.event !== undefined || body.events !== undefined;
  if (!isEvent && status !== "enabled") return "revocation";
  return typeof type === "string" ? type : undefined;
}
