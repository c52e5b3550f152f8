import { standardPreset } from "../presets/standard.ts";

/**
 * Anthropic (Managed Agents). Lists of platforms name one header `X-Webhook-Signature` instead of those that the SDK
 * reads. Every body's own type is `event`: the event's stands in `data`. Source: anthropic-sdk-typescript
 * `src/resources/beta/webhooks.ts`.
 */
export const anthropic = standardPreset("anthropic", {
  docs: "https://platform.claude.com/docs/en/managed-agents/webhooks",
  proof: "verifies",
  id: "body.id",
  type: "body.data.type",
  eventTime: { at: "body.created_at", unit: "iso" },
  hasSignedTime: true,
});
