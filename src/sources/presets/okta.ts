import type { ContractData } from "../contract/event-contract.ts";
import { createTokenScheme } from "../schemes/token.ts";
import type { PlatformFacts, SourceDefinition } from "../source-definition.ts";
import { describe } from "./describe.ts";
import { defineSource, type PresetOptions, secretParts } from "./preset.ts";

/** "Should all be empty", with 200 or 204. */
const EMPTY = { status: 200 };

const FACTS: PlatformFacts = {
  title: "Okta",
  docs: "https://developer.okta.com/docs/concepts/event-hooks/",
  proof: "documented",
  deadlineSeconds: 3,
};

const CONTRACT: ContractData = {
  id: "item.uuid",
  type: "item.eventType",
  timestamp: { at: "item.published", unit: "iso" },
  batch: { at: "body.data.events" },
  handshakes: [
    {
      isSigned: false,
      method: "GET",
      when: { "header.X-Okta-Verification-Challenge": true },
      reply: { kind: "json", fields: { verification: "header.X-Okta-Verification-Challenge" } },
    },
  ],
  responses: { success: EMPTY, duplicate: EMPTY, ignored: EMPTY },
};

/**
 * Okta's event hooks: a fixed text in `Authorization`, as it was given to Okta; nothing is signed. Each callback holds
 * several events of the System Log, each with its `uuid`. The address is checked once by GET, with a header to send back.
 * Source: https://developer.okta.com/docs/concepts/event-hooks/.
 * @throws TypeError that names the option that is wrong
 */
export function okta(options: PresetOptions): SourceDefinition {
  return defineSource({
    preset: "okta",
    facts: FACTS,
    settings: options,
    ...secretParts("okta", options.secret, { settings: options, mismatch: "token_mismatch" }, (tokens) =>
      createTokenScheme({ tokens, header: "Authorization", prefix: "" }),
    ),
    contract: CONTRACT,
  });
}

okta.describe = describe({
  preset: "okta",
  facts: FACTS,
  signs: "nothing: a fixed token in `Authorization`",
  contract: CONTRACT,
});
