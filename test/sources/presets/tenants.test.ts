import { describe, expect, it } from "vitest";
import {
  asana,
  custom,
  discord,
  hmac,
  linkedin,
  messageSignatures,
  monday,
  notion,
  paypal,
  shopify,
  smartcar,
  square,
  token,
  twilio,
  x,
  zoom,
} from "../../../src/sources/platforms/index.ts";

const path = "/hooks/:shop";
const secret = "one secret for all";
const secretOf = () => "the secret of a tenant";
/** Plain JavaScript has no compiler to refuse it. */
const untyped = secretOf as never;
const OWN = { path, id: "body.id", type: "body.type" } as const;
const signature = { header: "X-Signature", encoding: "hex" } as const;
const key = { id: "key", algorithm: "hmac-sha256", key: "one secret for all" } as const;

describe("a source whose path has parameters", () => {
  it.each([
    ["shopify", () => shopify({ path, secret })],
    ["hmac", () => hmac({ ...OWN, secret, signature, signed: "{timestamp}.{body}" })],
    ["hmac", () => hmac({ ...OWN, secret, signature, signed: "{header.X-Path}{query.path}{body}" })],
  ])("one secret for all its tenants is refused, with the way out: %s", (preset, create) => {
    expect(create).toThrow(
      `${preset}: \`path\`: got /hooks/:shop with one secret for all tenants; the path is not signed, so that a ` +
        "recorded callback could be sent to every tenant: expected `secret` as a function that gives each tenant " +
        "its own, or a path without parameters",
    );
  });

  it.each([
    ["token", "secret", () => token({ ...OWN, secret, header: "X-Token" })],
    ["discord", "publicKey", () => discord({ path, publicKey: "0".repeat(64) })],
    ["monday", "secret", () => monday({ path, secret, audience: "https://example.com" })],
    ["message-signatures", "keys", () => messageSignatures({ ...OWN, keys: [key], required: ["@method"] })],
  ])("one key for all its tenants is refused, with the option that takes more: %s", (preset, option, create) => {
    const end = `tenant: expected \`${option}\` as a function that gives each tenant its own, or a path without parameters`;
    expect(create).toThrow(new RegExp(`^${preset}: .*${end}$`));
  });

  it.each([
    ["paypal", () => paypal({ path, webhookId: "5GP028458E2496506" })],
    ["zoom", () => zoom({ path, secret })],
  ])("no function is proposed to a preset that takes none: %s", (preset, create) => {
    expect(create).toThrow(new RegExp(`^${preset}: .*tenant: expected a path without parameters$`));
  });

  it.each([
    ["hmac over the address", () => hmac({ ...OWN, secret, signature, signed: "{url}{body}" })],
    ["hmac over the path", () => hmac({ ...OWN, secret, signature, signed: "{method} {path}\n{body}" })],
    ["square", () => square({ path, secret })],
    ["twilio", () => twilio({ path, secret })],
    ["monday", () => monday({ path, secret })],
    ["message-signatures", () => messageSignatures({ ...OWN, keys: [key] })],
    ["custom", () => custom({ ...OWN, verify: () => false })],
    ["shopify with a secret for each", () => shopify({ path, secret: secretOf })],
  ])("a signature that covers the path, or a secret for each tenant, is accepted: %s", (_case, create) => {
    expect(create().settings.path).toBe(path);
  });

  it.each([
    ["asana", () => asana({ path, secret: untyped }), "`secret`: got a function"],
    ["asana", () => asana({ path, secret: undefined }), "`path`: got /hooks/:shop"],
    ["notion", () => notion({ path, secret: untyped }), "`secret`: got a function"],
  ])("a platform that sends its secret itself has no tenants: %s", (preset, create, got) => {
    expect(create).toThrow(
      new RegExp(`^${preset}: ${got}.* could set it for every tenant.* Give each tenant a source of its own$`),
    );
  });

  it.each([
    ["smartcar", "Smartcar", () => smartcar({ path, secret: untyped })],
    ["zoom", "Zoom", () => zoom({ path, secret: untyped })],
    ["x", "X (Twitter)", () => x({ path, secret: untyped })],
    ["linkedin", "LinkedIn", () => linkedin({ path, secret: untyped })],
  ])("a platform whose handshake proves one secret takes no function: %s", (_preset, title, create) => {
    expect(create).toThrow(
      `this preset cannot have one for each tenant, since ${title} asks in a handshake for a proof of one fixed ` +
        "secret. Give each tenant a source of its own",
    );
  });
});
