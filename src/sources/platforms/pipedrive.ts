import { basicPreset } from "../presets/token-preset.ts";

/**
 * Pipedrive's webhooks v2: basic authentication, set as `http_auth_user` and `http_auth_password`. The body counts its
 * attempts, so that webhook, object, action and time name an event. It tries again after 3, 30 and 150 seconds. Source:
 * Pipedrive, "Guide for Webhooks v2".
 */
export const pipedrive = basicPreset("pipedrive", {
  docs: "https://pipedrive.readme.io/docs/guide-for-webhooks-v2",
  deadlineSeconds: 10,
  retryHours: 0.05,
  disables: "10 failed first attempts ban it for 30 minutes; 3 days without success delete it",
  id: "{body.meta.webhook_id}.{body.meta.entity}.{body.meta.entity_id}.{body.meta.action}.{body.meta.timestamp}",
  type: "{body.meta.action}.{body.meta.entity}",
  eventTime: { at: "body.meta.timestamp", unit: "iso" },
});
