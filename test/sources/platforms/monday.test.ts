import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { type MondayOptions, monday } from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";

const NOW = new Date("2026-03-04T12:00:00Z");
const SECRET = "11111111111111111111111111111111";
const environment = { name: "monday", clock: { now: () => NOW }, origin: () => "https://hooks.example.com" };
const AUD = "https://hooks.example.com/api/monday/callback";
const EXP = NOW.getTime() / 1000 + 300;

async function verify(claims: object, options: Partial<MondayOptions> = {}): Promise<unknown> {
  const token = await new SignJWT({ ...claims }).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(SECRET));
  const request = requestOf("{}", { target: "/api/monday/callback", headers: { Authorization: token } });
  return monday({ secret: SECRET, ...options })
    .createScheme(environment)
    .verify(request);
}

describe("a callback of monday.com", () => {
  it("a callback of monday.com is accepted for its audience while its token lasts", async () => {
    expect(await verify({ aud: AUD, exp: EXP })).toHaveProperty("verified");
    expect(await verify({ aud: "an app", exp: EXP }, { audience: "an app" })).toHaveProperty("verified");
  });

  it.each([
    ["another address", { aud: "https://hooks.example.com/api/other/callback", exp: EXP }],
    ["no audience", { exp: EXP }],
    ["no end", { aud: AUD }],
    ["an end in the past", { aud: AUD, exp: EXP - 600 }],
  ])("a callback of monday.com is refused whose token has %s", async (_, claims) => {
    expect(await verify(claims)).toMatchObject({ code: "jwt_claims" });
  });

  it("a callback of monday.com is an event under the id of its trigger", () => {
    const contract = monday({ secret: SECRET }).createContract(environment);
    const event = { type: "create_pulse", triggerTime: "2026-03-04T11:59:00.000Z", triggerUuid: "b5ed2e17" };
    const [found] = eventsOf(contract, requestOf({ event }));
    expect(found?.json).toMatchObject({ event_id: "b5ed2e17", event_type: "create_pulse", data: event });
    expect(contract.identity).toBe("id");
  });
});
