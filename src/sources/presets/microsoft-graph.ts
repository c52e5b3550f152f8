import { randomUUID } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue, ownValue } from "../../domain/index.ts";
import type { ContractData } from "../contract/event-contract.ts";
import { createBodyTokenScheme } from "../schemes/body-token.ts";
import type { PlatformFacts, SourceDefinition } from "../source-definition.ts";
import { describe } from "./describe.ts";
import { defineSource, type PresetOptions, secretParts } from "./preset.ts";

const ACCEPTED = { status: 202 };

const FACTS: PlatformFacts = {
  title: "Microsoft Graph",
  docs: "https://learn.microsoft.com/graph/change-notifications-delivery-webhooks",
  proof: "documented",
  deadlineSeconds: 10,
  retryHours: 4,
  disables: "notifications are dropped while over 15 % of the responses in 10 minutes take over 10 s",
};

const CONTRACT: ContractData = {
  id: ["{item.subscriptionId}:{item.id}", () => randomUUID()],
  // The hash of an item must not be its second key.
  isIdSigned: true,
  type: ["item.lifecycleEvent", "item.changeType"],
  batch: { at: "body.value" },
  handshakes: [
    {
      isSigned: false,
      when: { "query.validationToken": true },
      reply: { kind: "text", at: "query.validationToken" },
    },
  ],
  responses: { success: ACCEPTED, duplicate: ACCEPTED, ignored: ACCEPTED },
};

/**
 * Change and lifecycle notifications of Microsoft Graph: nothing is signed, and each item holds the subscription's
 * `clientState` (`secret`). A new subscription's address is checked by a POST with `validationToken`. Items without an `id`
 * get a new one at each delivery: two equal ones may be two changes, and none may be lost. Resource data stays encrypted:
 * this preset reads neither `encryptedContent` nor `validationTokens`.
 * Source: https://learn.microsoft.com/graph/change-notifications-delivery-webhooks.
 * @throws TypeError that names the option that is wrong
 */
export function microsoftGraph(options: PresetOptions): SourceDefinition {
  const use = { settings: options, mismatch: "token_mismatch" } as const;
  return defineSource({
    preset: "microsoft-graph",
    facts: FACTS,
    settings: options,
    ...secretParts("microsoftGraph", options.secret, use, (tokens) =>
      createBodyTokenScheme({ tokens, read: statesOf, name: "clientState" }),
    ),
    contract: CONTRACT,
  });
}

microsoftGraph.describe = describe({
  preset: "microsoft-graph",
  facts: FACTS,
  signs: "nothing: each item holds the secret `clientState`",
  contract: CONTRACT,
});

function statesOf(body: JsonObject): (JsonValue | undefined)[] {
  const items = ownValue(body, "value");
  if (!Array.isArray(items)) return [];
  return items.map((item) => (isJsonObject(item) ? ownValue(item, "clientState") : undefined));
}
