import { describe, expect, it } from "vitest";
import type { SignedRequest, SourceDefinition } from "../../../src/sources/index.ts";
import {
  custom,
  ebay,
  googlePubSub,
  hmac,
  messageSignatures,
  monday,
  publicKey,
  stripe,
  trello,
  twilio,
} from "../../../src/sources/platforms/index.ts";
import { PRESET_NOW, PRESET_ORIGIN } from "../../support/preset.ts";
import { PRESET_SENDERS } from "../../support/preset-senders.ts";

/** Whether an authentic callback of the source is verified by the address of this receiver. */
async function readsAddress(source: SourceDefinition, request: SignedRequest): Promise<boolean> {
  let isRead = false;
  const origin = () => {
    isRead = true;
    return PRESET_ORIGIN;
  };
  const scheme = source.createScheme({ name: "source", clock: { now: () => PRESET_NOW }, origin });
  expect(await scheme.verify(request)).toHaveProperty("verified");
  return isRead;
}

describe("a source whose platform signs the registered address", () => {
  it.each(PRESET_SENDERS)("the preset %s says whether its platform signs the address", async (_name, sender) => {
    const source = sender.source([sender.secrets[0] as string]);
    expect(source.signsAddress).toBe(await readsAddress(source, await sender.callback(0)));
  });

  const own = { id: "body.id", type: "body.type" } as const;
  const secret = "a secret of thirty-two bytes 0123";
  const signature = { header: "X-Acme-Signature", encoding: "hex" } as const;
  const keys = [{ id: "k", algorithm: "hmac-sha256", key: secret }] as const;
  const pem =
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----";

  it.each<[string, SourceDefinition, boolean]>([
    ["hmac over {url}", hmac({ ...own, secret, signature, signed: "{url}{body}" }), true],
    ["hmac over {path}", hmac({ ...own, secret, signature, signed: "{path}{body}" }), false],
    [
      "publicKey over {decodedUrl}",
      publicKey({ ...own, publicKey: pem, algorithm: "ed25519", signature, signed: "{decodedUrl}{body}" }),
      true,
    ],
    ["messageSignatures", messageSignatures({ ...own, keys }), true],
    ["custom with the address", custom({ ...own, verify: (_body, _headers, url) => url !== "" }), true],
    ["custom of any number of arguments", custom({ ...own, verify: (...all) => all.length > 0 }), true],
    ["custom without the address", custom({ ...own, verify: (_body, headers) => headers.proof === "1" }), false],
    ["googlePubSub", googlePubSub({ serviceAccount: "a@b.example" }), true],
    ["googlePubSub with an audience", googlePubSub({ serviceAccount: "a@b.example", audience: "orders" }), false],
    ["monday with an audience", monday({ secret, audience: "https://a.example/hooks" }), false],
    ["ebay, whose handshake proves it", ebay({ verificationToken: "v".repeat(32), publicKeys: {} }), true],
    ["trello with a url", trello({ secret, url: "https://a.example/hooks" }), false],
    ["twilio", twilio({ secret }), true],
    ["stripe", stripe({ secret: "whsec_1" }), false],
  ])("%s needs the address: %#", (_name, { signsAddress }, expected) => {
    expect(signsAddress).toBe(expected);
  });
});
