import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { platformRows } from "../../scripts/platform-rows.ts";
import { defineHandler } from "../../src/handlers/index.ts";
import { github, type SourceDefinition, shopify, stripe } from "../../src/sources/platforms/index.ts";
import { testConfig } from "../support/receiver.ts";
import { type BehindAProxy, behindAProxy } from "./behind-a-proxy.ts";
import { notRun, onThePath } from "./on-the-path.ts";
import { ask } from "./proxy-client.ts";
import { startCaddy } from "./start-caddy.ts";
import { startNginx } from "./start-nginx.ts";

const STRIPE_SECRET = "whsec_a-secret-that-Stripe-has-given-us";
const GITHUB_SECRET = "a secret of 32 characters or more";
const SHOPIFY_SECRET = "shpss_a-secret-of-32-characters-or-more";
/** The response says how the handler ended, however long 20 MB take. */
const answer = "inline";
const SOURCES = {
  stripe: stripe({ secret: STRIPE_SECRET, answer }),
  code: github({ secret: GITHUB_SECRET, path: "/hooks/github", answer }),
  shopify: shopify({ secret: SHOPIFY_SECRET, answer }),
};
const HANDLERS = Object.keys(SOURCES).map((source) =>
  defineHandler({
    ...{ source, type: "*", data: z.looseObject({}) },
    async handle({ notify }) {
      await notify("ran", {});
      return {};
    },
  }),
);
const GITHUB_BYTES = 20_000_000;

const PROXIES = [
  ["nginx", startNginx],
  ["caddy", startCaddy],
] as const;

it("the shipped proxies and the memory for unverified bodies hold the largest body of every preset", () => {
  const sizes = platformRows().map(({ description: { facts } }) => facts.maxBodyBytes ?? 0);
  const largest = Math.max(...sizes);
  const numbersOf = (path: string, pattern: RegExp) =>
    [...readFileSync(path, "utf8").matchAll(pattern)].map(([, number]) => Number(number));
  const MIB = 1024 * 1024;
  const [nginx = 0] = numbersOf("deploy/nginx/oncehook.conf", /client_max_body_size (\d+)m;/g);
  const [caddy = 0] = numbersOf("deploy/caddy/Caddyfile", /max_size (\d+)MiB/g);
  expect(nginx * MIB).toBeGreaterThanOrEqual(largest);
  expect(caddy).toBe(nginx);
  expect(numbersOf("deploy/caddy/Caddyfile", /\) > (\d+)/g)).toEqual([caddy * MIB]);
  expect(testConfig({ dialect: "sqlite", url: "sqlite:unused.db" }).maxUnverifiedBytes).toBeGreaterThan(largest);
});

describe.each(PROXIES)("sources behind a real %s, in production mode", (name, start) => {
  const program = onThePath(name);
  if (program === undefined) {
    it.skip(notRun(name, "callbacks of real platforms through the shipped files"), () => {});
    return;
  }
  const env = { APP_ENV: "production", HANDLERS: "none", CALLBACK_BASE_URL: "https://pay.example.com" };
  const lend = (use: (proxied: BehindAProxy) => Promise<void>) =>
    behindAProxy((files) => start(program, files), use, env, { sources: SOURCES, handlers: HANDLERS });

  it(
    "a receiver behind a proxy serves Stripe's, GitHub's and Shopify's callbacks at their addresses in production mode, 20 MB too",
    { tags: "full" },
    () =>
      lend(async (proxied) => {
        const deliver = (
          path: string,
          definition: SourceDefinition,
          body: Buffer,
          headers: Record<string, string> = {},
        ) => {
          const signature = definition.sign?.({ body, now: new Date() });
          return ask(proxied, {
            path,
            body,
            headers: { "content-type": "application/json", ...headers, ...signature },
          });
        };
        const event = {
          id: "evt_1",
          object: "event",
          type: "invoice.paid",
          created: Math.floor(Date.now() / 1000),
        };
        const callbacks = [
          deliver(
            "/api/stripe/callback",
            SOURCES.stripe,
            Buffer.from(JSON.stringify({ ...event, data: { object: {} } })),
          ),
          deliver(
            "/hooks/github",
            SOURCES.code,
            Buffer.from(JSON.stringify({ text: "x".repeat(GITHUB_BYTES - '{"text":""}'.length) })),
            { "x-github-event": "push", "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958" },
          ),
          deliver("/api/shopify/callback", SOURCES.shopify, Buffer.from('{"id":820982911946154508}'), {
            "x-shopify-topic": "orders/create",
            "x-shopify-webhook-id": "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043",
            "x-shopify-shop-domain": "example.myshopify.com",
            "x-shopify-triggered-at": new Date().toISOString(),
          }),
        ];
        const answers = await Promise.all(callbacks);
        expect(answers.map(({ status, text }) => [status, JSON.parse(text).status])).toEqual(
          Array.from({ length: 3 }, () => [200, "success"]),
        );
        for (const name of Object.keys(SOURCES))
          expect(await proxied.receiver.count("oncehook_notifications", `source = '${name}'`)).toBe(1);
        const forged = await deliver("/api/stripe/callback", SOURCES.stripe, Buffer.from("{}"), {});
        expect(forged.status).not.toBe(404);
        expect((await ask(proxied, { path: "/api/paypal/callback", body: "{}" })).status).toBe(404);
      }),
  );
});
