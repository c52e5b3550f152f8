import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { exportJWK, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonValue } from "../../../src/domain/index.ts";
import { defineHandler } from "../../../src/index.ts";
import type { SourceDefinition } from "../../../src/sources/index.ts";
import * as presets from "../../../src/sources/platforms/index.ts";
import { issueCertificate } from "../../support/certificate-chain.ts";
import { describeFullOnPostgres, withMigrated } from "../../support/databases.ts";
import { openForAllTests } from "../../support/for-all-tests.ts";
import { withHttpsServer } from "../../support/http-server.ts";
import { PRESET_NOW, PRESET_ORIGIN } from "../../support/preset.ts";
import { startReceiver, type TestReceiver } from "../../support/receiver.ts";
import documented from "./platform-retries.json" with { type: "json" };

interface Sent {
  /** `{seconds}`, `{ms}` and `{iso}` stand for the time of sending. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a retry or another event: over the fields of the event. `{secret}` stands for the secret. */
  readonly body?: JsonValue;
  /** How many seconds after the event it is sent, and signed. */
  readonly later?: number;
}

/** An event of a platform, and what the platform varies. */
interface Row {
  readonly preset: string;
  readonly case?: string;
  /** The page of the platform's documentation. */
  readonly page: string;
  /** What the page says; "Undocumented" before what the preset assumes. */
  readonly says: string;
  readonly event: Sent;
  /** The event as its platform sends it again. */
  readonly retry: Sent;
  /** Nothing tells a retry from another event. */
  readonly retryRuns?: true;
  /** Genuine events that differ in nothing but this. */
  readonly others: readonly Sent[];
}

const ROWS: readonly Row[] = documented as readonly Row[];
/** Contentful's has 64 letters, and Adyen's is in hex. */
const SECRET = "ab".repeat(32);
const ACCOUNT = "push@project.iam.gserviceaccount.com";
const WEBHOOK = "8PT597110X687430LKGECATA";
const CERTIFIED = "messageverificationcerts.paypal.com";
const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const certified = await issueCertificate({ subject: CERTIFIED, dnsNames: [CERTIFIED] });
const jwk = { ...(await exportJWK(ec.publicKey)), kid: "k", alg: "ES256", use: "sig" };
const keys = [{ ...(await exportJWK(rsa.publicKey)), kid: "k", alg: "RS256", use: "sig" }];
const KEYS: Readonly<Record<string, string>> = {
  "/webhook_verification_key/get": JSON.stringify({ key: jwk }),
  "/certs": JSON.stringify({ keys }),
  "/v1/notifications/certs/CERT-1": certified.pem,
};
const answer = "inline";

/** @param api has the keys of the platforms that hand them out */
function sourceOf(preset: string, api: string): SourceDefinition {
  if (preset === "plaid") return presets.plaid({ secret: SECRET, clientId: "c", apiUrl: api, answer });
  if (preset === "google-pubsub")
    return presets.googlePubSub({ serviceAccount: ACCOUNT, keysUrl: `${api}/certs`, answer });
  if (preset === "paypal") {
    const pin = { host: /^127\.0\.0\.1:\d+$/, path: /^\/v1\/notifications\/certs\/[A-Z0-9-]+$/ };
    return presets.paypal({ webhookId: WEBHOOK, certificates: { pin }, answer });
  }
  const publicKey = rsa.publicKey.export({ format: "pem", type: "spki" }).toString();
  if (preset === "wise") return presets.wise({ publicKey, answer });
  const spki = rsa.publicKey.export({ format: "der", type: "spki" }).toString("base64");
  if (preset === "antom") return presets.antom({ publicKey: spki, answer });
  const options = { secret: SECRET, answer } as const;
  if (preset === "whatsapp") return presets.whatsapp({ ...options, verifyToken: "a verify token" });
  return presets.PRESETS[preset as keyof typeof presets.PRESETS](options);
}

interface ToSign {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly target: string;
  readonly api: string;
  readonly now: Date;
}

type Sign = (request: ToSign) => Promise<Record<string, string>>;

const byRsa = (text: string | Buffer) => sign("sha256", Buffer.from(text as string), rsa.privateKey).toString("base64");
const secondsOf = (now: Date) => now.getTime() / 1_000;

/** Those whose secret is no text, or whose signature a preset cannot make. */
const SIGNED: Readonly<Record<string, Sign>> = {
  antom: async ({ body, headers, target }) => {
    const text = `POST ${target}\n${headers["Client-Id"]}.${headers["Request-Time"]}.${body}`;
    return { Signature: `algorithm=RSA256,keyVersion=1,signature=${encodeURIComponent(byRsa(text))}` };
  },
  "google-pubsub": async ({ target, now }) => {
    const of = { iss: "https://accounts.google.com", email: ACCOUNT, email_verified: true };
    const claims = new SignJWT({ ...of, aud: PRESET_ORIGIN + target, exp: secondsOf(now) + 3_600 });
    const token = await claims.setProtectedHeader({ alg: "RS256", kid: "k" }).sign(rsa.privateKey);
    return { Authorization: `Bearer ${token}` };
  },
  monday: async ({ target, now }) => {
    const claims = new SignJWT({ aud: PRESET_ORIGIN + target, exp: secondsOf(now) + 300 });
    return { Authorization: await claims.setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(SECRET)) };
  },
  paypal: async ({ body, headers, api, now }) => {
    const time = now.toISOString();
    const text = `${headers["PayPal-Transmission-Id"]}|${time}|${WEBHOOK}|${crc32(body)}`;
    return {
      "PayPal-Transmission-Time": time,
      "PayPal-Transmission-Sig": sign("sha256", Buffer.from(text), certified.privateKey).toString("base64"),
      "PayPal-Cert-Url": `${api}/v1/notifications/certs/CERT-1`,
      "PayPal-Auth-Algo": "SHA256withRSA",
    };
  },
  plaid: async ({ body, now }) => {
    const request_body_sha256 = createHash("sha256").update(body).digest("hex");
    const claims = new SignJWT({ iat: secondsOf(now), request_body_sha256 });
    const token = await claims.setProtectedHeader({ alg: "ES256", kid: "k" }).sign(ec.privateKey);
    return { "Plaid-Verification": token };
  },
  wise: async ({ body }) => ({ "X-Signature-SHA256": byRsa(body) }),
};

const isForm = (headers: Readonly<Record<string, string>>) => headers["Content-Type"]?.endsWith("urlencoded");

/** What is sent, over the event. */
function requestOf({ event }: Row, { headers = {}, body, later = 0 }: Sent) {
  const now = new Date(PRESET_NOW.getTime() + later * 1_000);
  const values = { secret: SECRET, seconds: String(secondsOf(now)), ms: String(now.getTime()) };
  const filled = (text: string) =>
    text.replaceAll(/\{(secret|seconds|ms|iso)\}/g, (_, name) =>
      name === "iso" ? now.toISOString() : values[name as keyof typeof values],
    );
  const given = { "Content-Type": "application/json", ...event.headers, ...headers };
  const allHeaders = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, filled(value)]));
  const content = Array.isArray(event.body) ? (body ?? event.body) : { ...Object(event.body), ...Object(body) };
  const text = isForm(allHeaders) ? new URLSearchParams(content).toString() : filled(JSON.stringify(content));
  return { now, headers: allHeaders, body: Buffer.from(text) };
}

describeFullOnPostgres("what a platform varies, on %s", (dialect) => {
  const names = [...new Set(ROWS.map(({ preset }) => preset))];
  let runs = 0;
  let now = PRESET_NOW;
  let receiver: TestReceiver;
  let sources: Record<string, SourceDefinition>;
  let api: string;
  const handlers = names.map((source) =>
    defineHandler({
      source,
      type: "*",
      data: z.unknown() as z.ZodType<object>,
      handle() {
        runs += 1;
        return {};
      },
    }),
  );
  openForAllTests((untilTestsEnd) =>
    withHttpsServer(
      ({ url = "" }, response) => response.end(KEYS[url]),
      (origin) =>
        withMigrated(dialect, async (target) => {
          api = origin;
          sources = Object.fromEntries(names.map((name) => [name, sourceOf(name, api)]));
          const env = { CALLBACK_BASE_URL: PRESET_ORIGIN, TRUST_PROXY: "127.0.0.1/32" };
          const clock = { now: () => now };
          receiver = await startReceiver(target, { sources, handlers, env, clock });
          await untilTestsEnd();
          await receiver.stop();
        }),
      { commonName: `the platforms on ${dialect}` },
    ),
  );

  /** @returns how often the handler ran for it */
  async function runsOf(row: Row, sent: Sent): Promise<number> {
    const target = `/api/${row.preset}/callback`;
    const request = requestOf(row, sent);
    now = request.now;
    const toSign = { ...request, target, api, origin: PRESET_ORIGIN, method: "POST" };
    const signature = (await SIGNED[row.preset]?.(toSign)) ?? sources[row.preset]?.sign?.(toSign) ?? {};
    const before = runs;
    const response = await fetch(receiver.publicOrigin + target, {
      method: "POST",
      headers: {
        ...request.headers,
        ...signature,
        "x-forwarded-proto": "https",
        "x-forwarded-for": "192.0.2.7",
      },
      body: request.body,
    });
    expect([200, 202], await response.text()).toContain(response.status);
    return runs - before;
  }

  it.each(ROWS.map((row) => [`${row.preset}${row.case === undefined ? "" : ` (${row.case})`}`, row] as const))(
    "an event of %s runs, its retry runs only where nothing tells it from another event, and that one runs",
    async (_name, row) => {
      const before = await receiver.count("oncehook_records");
      expect(await runsOf(row, row.event), "the event").toBe(1);
      const repeated = row.retryRuns ? 1 : 0;
      expect(await runsOf(row, row.retry), `the retry: ${row.says}`).toBe(repeated);
      for (const other of row.others) expect(await runsOf(row, other), `another: ${row.says}`).toBe(1);
      const expected = before + 1 + repeated + row.others.length;
      expect(await receiver.count("oncehook_records")).toBe(expected);
    },
  );
});

describe("the table of what platforms vary", () => {
  it("every preset whose id is not signed has a row", () => {
    const page = readFileSync("docs/platforms.md", "utf8");
    const table = page.split("\n## ").find((section) => section.startsWith("Keys of events")) ?? "";
    const unsigned = [...table.matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, name = ""]) => name);
    expect(unsigned.length).toBeGreaterThan(30);
    expect(ROWS.map(({ preset }) => preset)).toEqual(expect.arrayContaining(unsigned));
  });
});
