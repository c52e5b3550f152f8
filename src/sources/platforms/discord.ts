import type { JsonObject, Outcome } from "../../domain/index.ts";
import type { PlatformResponse } from "../contract/contract.ts";
import type { Readable } from "../contract/reading.ts";
import { fixedResponse } from "../contract/responses.ts";
import { publicKeyPreset } from "../presets/public-key-preset.ts";

/** docs.discord.com/developers/interactions/receiving-and-responding, "Interaction Type". */
const INTERACTIONS: Readonly<Record<number, string>> = {
  2: "APPLICATION_COMMAND",
  3: "MESSAGE_COMPONENT",
  4: "APPLICATION_COMMAND_AUTOCOMPLETE",
  5: "MODAL_SUBMIT",
};

/**
 * Discord, interactions and webhook events: the key is the application's public key. Source: discord-interactions
 * `verifyKey`; docs.discord.com/developers, "Webhook Events" and "Receiving and Responding". Discord sends bad
 * signatures on purpose and removes an address that does not respond with 401. An interaction expects its response
 * within 3 s: a handler's result with a number as `type` is that response. The body of a webhook event has its time, so
 * that its hash is an id.
 */
export const discord = publicKeyPreset("discord", {
  docs: "https://docs.discord.com/developers/events/webhook-events",
  proof: "verifies",
  deadlineSeconds: 3,
  // Ten minutes, for webhook events; an interaction is sent once.
  retryHours: 0.17,
  disables: "a response other than 401 to a bad signature",
  takesPublicKey: true,
  algorithm: "ed25519",
  key: "hex",
  signature: { header: "X-Signature-Ed25519", encoding: "hex" },
  signed: "{timestamp}{body}",
  timestamp: { header: "X-Signature-Timestamp", unit: "seconds", toleranceSeconds: null },
  id: ["body.id", "sha256"],
  type: ["body.event.type", interactionType, "INTERACTION_{body.type}"],
  eventTime: { at: "body.event.timestamp", unit: "iso" },
  handshakes: [
    // A webhook event has the type 1 as well, and an `event`; an interaction has a token.
    {
      isSigned: true,
      when: { "body.type": "1", "body.token": true },
      reply: { kind: "status", status: 200, body: { type: 1 } },
    },
    { isSigned: true, when: { "body.type": "0" }, reply: { kind: "status", status: 204 } },
  ],
  responses: { success: respond, duplicate: respond, ignored: { status: 204 } },
});

function interactionType({ body }: Readable): string | undefined {
  const type = (body as JsonObject | undefined)?.type;
  return typeof type === "number" ? INTERACTIONS[type] : undefined;
}

/** Webhook events want 204 without a body. */
function respond(outcome: Outcome): PlatformResponse {
  const result = "result" in outcome ? outcome.result : null;
  return typeof result?.type === "number" ? fixedResponse({ body: result }) : fixedResponse({ status: 204 });
}
