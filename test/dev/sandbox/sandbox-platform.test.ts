import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { sandboxAuthorize, sandboxToken } from "../../../src/oauth/sandbox-platform.ts";

const REDIRECT = "https://pay.example.com/api/platform/oauth-callback";
const VERIFIER = "v".repeat(43);
const START = {
  response_type: "code",
  client_id: "sandbox",
  redirect_uri: REDIRECT,
  state: "the-state",
  code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
  code_challenge_method: "S256",
};
const CLIENT = `Basic ${Buffer.from("sandbox:sandbox").toString("base64")}`;

function started(over: Record<string, string> = {}): URL | undefined {
  const back = sandboxAuthorize(new URLSearchParams({ ...START, ...over }), REDIRECT);
  return back === undefined ? undefined : new URL(back);
}

const exchanged = (form: Record<string, string>, authorization: string | undefined = CLIENT) =>
  sandboxToken(new URLSearchParams({ grant_type: "authorization_code", ...form }), authorization);

describe("the sandbox platform", () => {
  it("the sandbox sends a browser back to the registered address, with a code and its state", () => {
    const back = started();
    expect(`${back?.origin}${back?.pathname}`).toBe(REDIRECT);
    expect(back?.searchParams.get("state")).toBe("the-state");
    const code = back?.searchParams.get("code") ?? "";
    expect(exchanged({ code, code_verifier: VERIFIER })).toMatchObject({
      status: 200,
      body: { token_type: "Bearer", user_id: "sandbox-user" },
    });
  });

  it.each([
    ["another client", { client_id: "another" }],
    ["another response type", { response_type: "token" }],
    ["another redirect address", { redirect_uri: "https://evil.example/cb" }],
    ["a challenge of the wrong length", { code_challenge: "short" }],
    ["a challenge in the clear", { code_challenge_method: "plain" }],
  ])("the sandbox starts no flow with %s", (_title, over) => {
    expect(started(over)).toBeUndefined();
  });

  it("the sandbox starts no flow without a state", () => {
    const { state: _state, ...others } = START;
    expect(sandboxAuthorize(new URLSearchParams(others), REDIRECT)).toBeUndefined();
  });

  it("the sandbox accepts a flow's code with its own verifier alone", () => {
    const code = started()?.searchParams.get("code") ?? "";
    for (const given of [{ code }, { code, code_verifier: "w".repeat(43) }])
      expect(exchanged(given)).toEqual({ status: 400, body: { error: "invalid_grant" } });
  });

  it.each([
    ["no credentials", undefined],
    ["other credentials", `Basic ${Buffer.from("sandbox:other").toString("base64")}`],
  ])("the sandbox gives no tokens to a client with %s", (_title, authorization) => {
    const form = new URLSearchParams({ grant_type: "authorization_code", code: "made-up" });
    expect(sandboxToken(form, authorization)).toEqual({ status: 401, body: { error: "invalid_client" } });
  });

  it.each([
    [{ code: "made-up" }, 200],
    [{ code: "" }, 400],
    [{ code: "sandbox_refused" }, 400],
    [{ code: "sandbox_unavailable" }, 503],
    [{ grant_type: "refresh_token" }, 200],
    [{ grant_type: "password" }, 400],
  ])("the sandbox responds as configured: %j gets %i", (form, status) => {
    expect(exchanged(form as unknown as Record<string, string>).status).toBe(status);
  });
});
