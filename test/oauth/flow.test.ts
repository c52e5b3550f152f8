import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createEncryptor } from "../../src/encryption/index.ts";
import { browserOf, newFlow, openFlow, randomSecret } from "../../src/oauth/flow.ts";
import { withReceiver } from "../support/receiver.ts";

const URI = "https://pay.example.com/api/platform/oauth-callback";
const T0 = new Date("2026-01-01T00:00:00Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1_000);
const key = randomBytes(32);
const encryptor = createEncryptor(key);
const browser = randomSecret();

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** The other texts of the alphabet that a lenient decoder reads as the same bytes. */
function spellingsOf(text: string): string[] {
  const bytes = Buffer.from(text, "base64url");
  return [...ALPHABET]
    .map((last) => text.slice(0, -1) + last)
    .filter((other) => other !== text && Buffer.from(other, "base64url").equals(bytes));
}

describe("the state of a flow that was started here", () => {
  it("brings back verifier, nonce and end in its browser, and needs nothing that was kept", () => {
    const { state, flow } = newFlow(URI, browser, T0, encryptor);
    expect(openFlow(state, URI, browser, { now: at(599), encryptor })).toEqual(flow);
    expect(flow).toMatchObject({ codeVerifier: expect.stringMatching(/^[\w-]{43}$/), endsAt: at(600) });
    expect(flow.nonce).not.toBe(flow.codeVerifier);
  });

  it("opens with ENCRYPTION_KEY_PREVIOUS too", () => {
    const { state, flow } = newFlow(URI, browser, T0, encryptor);
    const rotated = createEncryptor(randomBytes(32), [key]);
    expect(openFlow(state, URI, browser, { now: T0, encryptor: rotated })).toEqual(flow);
  });

  it("a state is unknown under another key, for another redirect address, with a changed character, and after ten minutes", () => {
    const { state } = newFlow(URI, browser, T0, encryptor);
    const open = (given: string, uri = URI, now = T0, by = encryptor) =>
      openFlow(given, uri, browser, { now, encryptor: by });
    expect(open(state, URI, T0, createEncryptor(randomBytes(32)))).toBe("unknown");
    expect(open(state, `${URI}2`)).toBe("unknown");
    expect(open(state, URI, at(600))).toBe("unknown");
    for (let index = 0; index < state.length; index += 1) {
      const other = state[index] === "A" ? "B" : "A";
      expect(open(state.slice(0, index) + other + state.slice(index + 1)), `character ${index}`).toBe(
        "unknown",
      );
    }
    for (const given of ["", "x", state.slice(1), `${state}A`, "A".repeat(95)])
      expect(open(given)).toBe("unknown");
  });

  it("a state is unknown in every other spelling of its bytes, of which the last character allows three", () => {
    const { state } = newFlow(URI, browser, T0, encryptor);
    const others = spellingsOf(state);
    expect(others).toHaveLength(3);
    for (const other of others)
      expect(openFlow(other, URI, browser, { now: T0, encryptor }), other.slice(-1)).toBe("unknown");
  });

  it("does not last longer because the clock was set back", () => {
    const { state } = newFlow(URI, browser, T0, encryptor);
    expect(openFlow(state, URI, browser, { now: at(-3_600), encryptor })).toBe("unknown");
  });

  it.each([
    ["another one", randomSecret()],
    ["none", undefined],
  ])("a state belongs to another browser where the cookie is %s", (_title, cookie) => {
    const { state } = newFlow(URI, browser, T0, encryptor);
    expect(openFlow(state, URI, cookie, { now: T0, encryptor })).toBe("of another browser");
  });
});

describe("a cookie", () => {
  it("counts as missing where the browser sends two of its name, in one line or in two", () => {
    const [one, other] = [`__Host-oncehook-browser=${browser}`, `__Host-oncehook-browser=${randomSecret()}`];
    expect(browserOf({ cookie: [`a=b; ${one}`] })).toBe(browser);
    for (const cookie of [[`${one}; ${other}`], [one, other], [one, one]])
      expect(browserOf({ cookie })).toBeUndefined();
  });
});

describe("the start of a flow", () => {
  it("the start of a flow writes no row, however many clients start one", () =>
    withReceiver("sqlite", async (receiver) => {
      for (let count = 0; count < 20; count += 1) {
        const started = await fetch(`${receiver.publicOrigin}/api/platform/oauth-start`, {
          redirect: "manual",
        });
        expect(started.status).toBe(303);
      }
      for (const table of ["oncehook_redirect_states", "oncehook_spent_states", "oncehook_callbacks"])
        expect([table, await receiver.count(table)]).toEqual([table, 0]);
    }));

  it("gives one state, which no other spelling of its bytes repeats under another event id", () =>
    withReceiver("sqlite", async (receiver) => {
      const base = `${receiver.publicOrigin}/api/platform`;
      const started = await fetch(`${base}/oauth-start`, { redirect: "manual" });
      const cookie = started.headers.get("set-cookie")?.split(";")[0] ?? "";
      const state = new URL(started.headers.get("location") ?? "").searchParams.get("state") ?? "";
      const arrive = (given: string) =>
        fetch(`${base}/oauth-callback?code=c1&state=${given}`, { headers: { cookie } });
      expect((await arrive(state)).status).toBe(200);
      for (const other of spellingsOf(state)) {
        const answer = await arrive(other);
        expect([answer.status, await answer.json()]).toEqual([401, { error: "invalid state" }]);
      }
      expect(await receiver.count("oncehook_records")).toBe(1);
    }));

  const cookieOf = async (origin: string, cookie = "") => {
    const started = await fetch(`${origin}/api/platform/oauth-start`, {
      redirect: "manual",
      headers: { cookie },
    });
    return started.headers.get("set-cookie") ?? "";
  };

  it("keeps the cookie of a browser that has one, so that a flow in another tab of it goes on", () =>
    withReceiver("sqlite", async ({ publicOrigin }) => {
      const first = await cookieOf(publicOrigin);
      expect(await cookieOf(publicOrigin, first.split(";")[0])).toBe(first);
      expect(await cookieOf(publicOrigin)).not.toBe(first);
    }));

  it("lets the browser send the cookie from the platform's own page where that posts a form", () =>
    withReceiver(
      "sqlite",
      async ({ publicOrigin }) => {
        expect(await cookieOf(publicOrigin)).toMatch(/; Secure; HttpOnly; SameSite=None$/);
      },
      { env: { OAUTH_RESPONSE_MODE: "form_post" } },
    ));
});
