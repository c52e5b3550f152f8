import { standardPreset } from "../presets/standard.ts";

/**
 * Recall.ai: the secret is the workspace's; accounts of before 2025-12-15 send `svix-…` headers. It signs nothing
 * before a workspace secret is created. Source: its page on authenticating requests; "Bot Webhooks".
 */
export const recall = standardPreset("recall", {
  title: "Recall.ai",
  docs: "https://docs.recall.ai/docs/authenticating-requests-from-recallai",
  deadlineSeconds: 15,
  retryHours: 24,
  prefix: "svix",
  type: "body.event",
});
