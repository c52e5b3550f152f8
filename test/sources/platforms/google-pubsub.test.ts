import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { type GooglePubSubOptions, googlePubSub } from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";
import { withHttpsServer } from "../../support/http-server.ts";

const NOW = new Date("2026-03-04T12:00:00Z");
const environment = {
  name: "google-pubsub",
  clock: { now: () => NOW },
  origin: () => "https://hooks.example.com",
};
const ACCOUNT = "push@project.iam.gserviceaccount.com";
const TARGET = "/api/google-pubsub/callback";
const pair = await generateKeyPair("RS256", { extractable: true });
const keys = [{ ...(await exportJWK(pair.publicKey)), kid: "k", alg: "RS256", use: "sig" }];
const CLAIMS = {
  iss: "https://accounts.google.com",
  aud: `https://hooks.example.com${TARGET}`,
  email: ACCOUNT,
  email_verified: true,
  exp: NOW.getTime() / 1000 + 3_600,
};

interface Asked {
  readonly claims?: object;
  readonly options?: Partial<GooglePubSubOptions>;
  readonly target?: string;
}

function verify({ claims = {}, options = {}, target = TARGET }: Asked): Promise<unknown> {
  return withHttpsServer(
    (_request, response) => response.end(JSON.stringify({ keys })),
    async (origin) => {
      const token = await new SignJWT({ ...CLAIMS, ...claims })
        .setProtectedHeader({ alg: "RS256", kid: "k" })
        .sign(pair.privateKey);
      const request = requestOf("{}", { target, headers: { Authorization: `Bearer ${token}` } });
      const source = googlePubSub({ serviceAccount: ACCOUNT, keysUrl: `${origin}/certs`, ...options });
      return source.createScheme(environment).verify(request);
    },
  );
}

describe("a push of Google Pub/Sub", () => {
  it.each<[string, Asked]>([
    ["the registered address", {}],
    ["the registered address without its query", { target: `${TARGET}?a=1` }],
    ["the registered address with its query", { target: `${TARGET}?a=1`, claims: { aud: `${CLAIMS.aud}?a=1` } }],
    ["the configured audience", { claims: { aud: "orders" }, options: { audience: "orders" } }],
  ])("a push of Google Pub/Sub is accepted for %s", async (_, asked) => {
    expect(await verify(asked)).toMatchObject({ verified: [{ method: "jwt", index: 0 }] });
  });

  it.each<[string, object]>([
    ["another service account", { email: "push@evil.iam.gserviceaccount.com" }],
    ["an email that is not verified", { email_verified: false }],
    ["no email", { email: undefined }],
    ["another audience", { aud: "https://other.example/" }],
    ["another issuer", { iss: "https://evil.example" }],
    ["an end in the past", { exp: NOW.getTime() / 1000 - 60 }],
  ])("a push of Google Pub/Sub is refused whose token has %s", async (_, claims) => {
    expect(await verify({ claims })).toMatchObject({ code: "jwt_claims" });
  });

  it("a push of Google Pub/Sub is an event under its message's id, with its data decoded", () => {
    const contract = googlePubSub({ serviceAccount: ACCOUNT }).createContract(environment);
    const data = Buffer.from('{"name":"a.txt"}').toString("base64");
    const message = { data, messageId: "2070443601311540", publishTime: "2026-03-04T11:59:00Z" };
    const [event] = eventsOf(contract, requestOf({ message, subscription: "projects/p/subscriptions/s" }));
    expect(event?.json).toMatchObject({ event_id: "2070443601311540", data: { data: { name: "a.txt" } } });
    expect(event?.typeOf()).toBe("projects/p/subscriptions/s");
    expect(contract.identity).toBe("id");
  });

  it.each([
    ["no service account", { serviceAccount: undefined }],
    ["an account that is no email", { serviceAccount: "push" }],
    ["an empty audience", { serviceAccount: ACCOUNT, audience: "" }],
    ["keys over plain HTTP", { serviceAccount: ACCOUNT, keysUrl: "http://www.googleapis.com/" }],
  ])("a push of Google Pub/Sub is not expected with %s", (_, options) => {
    expect(() => googlePubSub(options)).toThrow(TypeError);
  });
});
