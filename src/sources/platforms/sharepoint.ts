import { echoOf } from "../contract/handshakes.ts";
import { bodyTokenPreset } from "../presets/token-preset.ts";
import { statesOf } from "./microsoft-graph.ts";

/**
 * SharePoint's webhooks of lists: each notification holds the subscription's `clientState` (`secret`). A new
 * subscription's address is checked by a POST with `validationtoken`. A notification says only that a list has changes,
 * so two equal ones are two events. It tries again five times, five minutes apart. Source: Microsoft, "Overview of
 * SharePoint webhooks" and "Webhook notifications".
 */
export const sharepoint = bodyTokenPreset("sharepoint", {
  title: "SharePoint",
  docs: "https://learn.microsoft.com/sharepoint/dev/apis/webhooks/overview-sharepoint-webhooks",
  identity: { key: "delivery", why: "no id and no time: the same hint is sent at each change" },
  deadlineSeconds: 5,
  retryHours: 0.42,
  name: "clientState",
  read: statesOf,
  id: "sha256",
  type: "=notification",
  batch: { at: "body.value" },
  handshakes: [echoOf("query.validationtoken")],
});
