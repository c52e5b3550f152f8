import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lentReceiver } from "../support/lent-receiver.ts";

// Nothing listens there: the platform is away.
const AWAY = "http://127.0.0.1:1";
const lent = lentReceiver({
  env: { OAUTH_ISSUER: AWAY, OAUTH_CLIENT_ID: "us", OAUTH_CLIENT_SECRET: "the-secret-of-ours" },
});
beforeAll(lent.begin);
afterAll(lent.end);

const STATE = "state-of-at-least-128-bits";

async function come(query: string, headers: Record<string, string> = { accept: "text/html" }) {
  const url = `${lent.receiver.publicOrigin}/api/platform/oauth-callback?${query}`;
  const response = await fetch(url, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** A state that the platform made up, for a flow that it starts. */
async function registered(state: string): Promise<string> {
  const response = await lent.receiver.admin("/api/v1/oauth/states", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ state }),
  });
  expect(response.status).toBe(201);
  return state;
}

describe("the redirect of an OAuth flow", () => {
  it.each(["sec-purpose", "purpose", "x-purpose", "x-moz"])(
    "a redirect that a browser prefetches, as %s says, returns 503 with Retry-After",
    async (name) => {
      const { status, headers } = await come(`code=c&state=${STATE}`, { [name]: "prefetch" });
      expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
    },
  );

  it("a page shows a browser that the platform refused, in words that are not those for an unknown sign-in", async () => {
    const state = await registered(`${STATE}-of-a-refusal`);
    const refusal = await come(`error=access_denied&state=${state}`);
    expect([refusal.status, refusal.text]).toEqual([
      400,
      expect.stringContaining("The platform did not grant access."),
    ]);
    const unknown = await come("code=c&state=unknown");
    expect([unknown.status, unknown.text]).toEqual([401, expect.stringContaining("is not known here")]);
  });

  it("the log has no more of the platform's words on a refusal than 200 characters each", async () => {
    const state = await registered(`${STATE}-of-many-words`);
    await come(`error=access_denied&error_description=${"w".repeat(900)}&state=${state}`);
    const logged = lent.receiver.lines.map(({ error }) => String(error)).join("\n");
    expect(logged).toContain("w".repeat(200));
    expect(logged).not.toContain("w".repeat(201));
  });

  it("a redirect returns 503 and spends neither code nor state while the platform's discovery fails", async () => {
    const state = await registered(`${STATE}-with-an-issuer`);
    for (let turn = 0; turn < 2; turn += 1) {
      const response = await come(`code=c1&state=${state}&iss=${AWAY}`, {});
      expect([response.status, response.text]).toEqual([503, '{"error":"temporarily unavailable"}']);
    }
    const where = "outcome = 'platform_unavailable'";
    expect(await lent.receiver.count("oncehook_records")).toBe(0);
    await lent.receiver.admin("/api/v1/callbacks");
    expect(await lent.receiver.count("oncehook_callbacks", where)).toBe(2);
  });

  it("a redirect that the platform signs needs a state, because its event's id is made from it", async () => {
    const sent = { path: "/api/platform/oauth-callback" };
    for (const body of [{ code: "c1" }, { code: "c1", state: "" }]) {
      const response = await lent.receiver.send(body, sent);
      expect([response.status, response.body]).toEqual([400, { error: "state: missing" }]);
    }
  });

  it("the log says why a flow could not be started", async () => {
    const url = `${lent.receiver.publicOrigin}/api/platform/oauth-start`;
    expect((await fetch(url)).status).toBe(503);
    expect(lent.receiver.lines).toContainEqual(
      expect.objectContaining({ level: 50, msg: "an OAuth flow could not be started" }),
    );
  });
});
