import { createHash } from "node:crypto";
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { type LivekitOptions, livekit } from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";

const NOW = new Date("2026-03-04T12:00:00Z");
const SECRET = "a-secret-of-now-that-has-32-bytes-or-more";
const environment = { name: "livekit", clock: { now: () => NOW }, origin: () => "https://hooks.example.com" };
const BODY = '{"event":"room_started","id":"EV_1","createdAt":"1772625540"}';
const CLAIMS = {
  iss: "APIkey",
  exp: NOW.getTime() / 1000 + 300,
  sha256: createHash("sha256").update(BODY).digest("base64"),
};

async function verify(claims: object, options: Partial<LivekitOptions> = {}): Promise<unknown> {
  const token = await new SignJWT({ ...CLAIMS, ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .sign(Buffer.from(SECRET));
  const request = requestOf(BODY, { headers: { Authorization: token } });
  return livekit({ secret: SECRET, apiKey: "APIkey", ...options })
    .createScheme(environment)
    .verify(request);
}

describe("a callback of LiveKit", () => {
  it("a callback of LiveKit is accepted by each configured API key", async () => {
    expect(await verify({})).toHaveProperty("verified");
    expect(await verify({ iss: "APIold" }, { apiKey: ["APIkey", "APIold"] })).toHaveProperty("verified");
  });

  it.each([
    ["another API key", { iss: "APIother" }, "jwt_claims"],
    ["no hash of the body, as a participant's has", { sha256: undefined }, "jwt_claims"],
    ["the hash of another body", { sha256: createHash("sha256").digest("base64") }, "jwt_body_mismatch"],
    ["no end", { exp: undefined }, "jwt_claims"],
  ])("a callback of LiveKit is refused whose token has %s", async (_, claims, code) => {
    expect(await verify(claims)).toMatchObject({ code });
  });

  it("a callback of LiveKit is an event under its id, at its time", () => {
    const contract = livekit({ secret: SECRET, apiKey: "APIkey" }).createContract(environment);
    const [event] = eventsOf(contract, requestOf(BODY));
    expect(event?.json).toMatchObject({
      event_id: "EV_1",
      event_type: "room_started",
      timestamp: 1_772_625_540,
    });
  });

  it.each([
    ["no API key", { secret: SECRET }],
    ["an empty list of API keys", { secret: SECRET, apiKey: [] }],
    ["an empty secret", { secret: "", apiKey: "APIkey" }],
  ])("a callback of LiveKit is not expected with %s", (_, options) => {
    expect(() => livekit(options as unknown as LivekitOptions)).toThrow(TypeError);
  });
});
