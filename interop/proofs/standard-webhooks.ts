import { createHmac } from "node:crypto";
import Anthropic from "@anthropic-ai/sdk";
import { verifyWebhook } from "@clerk/backend/webhooks";
import { webhooks as polarWebhooks } from "@polar-sh/sdk/2026-10";
import Lithic from "lithic";
import OpenAI from "openai";
import { validateWebhook } from "replicate";
import { Resend } from "resend";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import {
  anthropic,
  clerk,
  lithic,
  openai,
  polar,
  replicate,
  resend,
  standardWebhooks,
  svix,
} from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { standardProof } from "./standard.ts";

const isoOf = (now: Date) => now.toISOString();

/** The vector of the specification's libraries: standard-webhooks libraries/javascript/src/index.test.ts. */
const vector = () => ({
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  now: new Date(1_614_265_330_000),
  request: {
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    body: Buffer.from('{"test": 2432232314}'),
  },
});

const resendSdk = new Resend("re_unused");
const openaiSdk = new OpenAI({ apiKey: "unused" });
const anthropicSdk = new Anthropic({ apiKey: "unused" });
const lithicSdk = new Lithic({ apiKey: "unused" });

/** Those that sign as Standard Webhooks, and whose SDKs sign or verify. */
export const standardProofs: readonly PlatformProof[] = [
  standardProof({
    preset: "standard-webhooks",
    by: "standardwebhooks, Webhook.sign",
    source: standardWebhooks,
    body: ({ now }) => ({ type: "contact.created", timestamp: isoOf(now), data: { id: "1f81eb52" } }),
    sign: ({ secret, id, now }, payload) => new StandardWebhook(secret).sign(id, now, payload),
    vector,
  }),
  standardProof({
    preset: "svix",
    by: "svix, Webhook.sign",
    source: svix,
    headers: "svix",
    body: ({ now }) => ({ type: "invoice.paid", timestamp: isoOf(now), data: { id: "in_1" } }),
    sign: ({ secret, id, now }, payload) => new SvixWebhook(secret).sign(id, now, payload),
    verify: ({ payload, headers, secret }) => new SvixWebhook(secret).verify(payload, headers),
    vector,
  }),
  standardProof({
    preset: "anthropic",
    by: "@anthropic-ai/sdk, beta.webhooks.unwrap",
    source: anthropic,
    body: ({ id, now }) => ({
      id,
      type: "event",
      created_at: isoOf(now),
      data: { id: "sesn_1", type: "session.status_idled", organization_id: "org_1", workspace_id: "w_1" },
    }),
    verify: ({ payload, headers, secret }) => anthropicSdk.beta.webhooks.unwrap(payload, { headers, key: secret }),
  }),
  standardProof({
    preset: "clerk",
    by: "@clerk/backend, verifyWebhook",
    source: clerk,
    headers: "svix",
    body: ({ now }) => ({
      type: "user.created",
      object: "event",
      timestamp: now.getTime(),
      instance_id: "ins_1",
      data: { id: "user_1" },
    }),
    verify: ({ payload, headers, secret, url }) =>
      verifyWebhook(new Request(url, { method: "POST", headers, body: payload }), { signingSecret: secret }),
  }),
  standardProof({
    preset: "lithic",
    by: "lithic, webhooks.unwrap",
    source: lithic,
    body: () => ({ event_type: "card.created", card_token: "00000000-0000-0000-0000-000000000001" }),
    verify: ({ payload, headers, secret }) => lithicSdk.webhooks.unwrap(payload, headers, secret),
  }),
  standardProof({
    preset: "openai",
    by: "openai, webhooks.unwrap",
    source: openai,
    // The second is no base64 after `whsec_`: the SDK takes such a text as it is.
    secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "a secret without a prefix", "whsec_c2VjcmV0LTM="],
    body: ({ now }) => ({
      id: "evt_1",
      object: "event",
      type: "batch.completed",
      created_at: Math.floor(now.getTime() / 1000),
      data: { id: "batch_1" },
    }),
    verify: ({ payload, headers, secret }) => openaiSdk.webhooks.unwrap(payload, headers, secret),
  }),
  standardProof({
    preset: "polar",
    by: "@polar-sh/sdk, webhooks.validateEvent",
    source: polar,
    secrets: ["polar_whs_a secret of the dashboard", "polar_whs_another", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"],
    body: ({ now }) => ({
      type: "order.paid",
      timestamp: isoOf(now),
      api_version: "2026-10",
      data: { id: "ord_1" },
    }),
    // Polar's original key; what Standard Webhooks makes of a secret is tested in test/sources/presets.
    sign: ({ secret, id, now }, payload) => {
      const content = `${id}.${Math.floor(now.getTime() / 1000)}.${payload}`;
      return `v1,${createHmac("sha256", secret).update(content).digest("base64")}`;
    },
    verify: ({ payload, headers, secret }) => polarWebhooks.validateEvent(payload, headers, secret),
  }),
  standardProof({
    preset: "replicate",
    by: "replicate, validateWebhook",
    source: replicate,
    body: () => ({ id: "ufawqhfynnddngldkgtslldrkq", status: "succeeded", output: null }),
    verify: ({ payload, headers, secret }) =>
      validateWebhook({
        id: headers["webhook-id"] ?? "",
        timestamp: headers["webhook-timestamp"] ?? "",
        signature: headers["webhook-signature"] ?? "",
        body: payload,
        secret,
      }),
  }),
  standardProof({
    preset: "resend",
    by: "resend, webhooks.verify",
    source: resend,
    headers: "svix",
    body: ({ now }) => ({ type: "email.sent", created_at: isoOf(now), data: { email_id: "em_1" } }),
    verify: ({ payload, headers, secret }) =>
      resendSdk.webhooks.verify({
        payload,
        headers: {
          id: headers["svix-id"] ?? "",
          timestamp: headers["svix-timestamp"] ?? "",
          signature: headers["svix-signature"] ?? "",
        },
        webhookSecret: secret,
      }),
  }),
];
