import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { cookieOf, newFlow, openFlow } from "../../src/oauth/flow.ts";
import { createEncryptor } from "../../src/system/encryption.ts";
import { withReceiver } from "../support/receiver.ts";

const URI = "https://pay.example.com/api/platform/oauth-callback";
const T0 = new Date("2026-01-01T00:00:00Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1_000);
const key = randomBytes(32);
const encryptor = createEncryptor(key);

/** A flow that was started at T0, and the cookie of its browser. */
function started(context?: string) {
  const { state, flow, cookie } = newFlow(URI, context, T0, encryptor);
  return { state, flow, cookies: [`a=b; ${cookie.name}=${cookie.value}`], cookie };
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** The other texts of the alphabet that a lenient decoder reads as the same bytes. */
function spellingsOf(text: string): string[] {
  const bytes = Buffer.from(text, "base64url");
  return [...ALPHABET]
    .map((last) => text.slice(0, -1) + last)
    .filter((other) => other !== text && Buffer.from(other, "base64url").equals(bytes));
}

describe("the state of a flow that was started here", () => {
  it("a state brings back verifier, nonce and end in its browser, and needs nothing that was kept", () => {
    const { state, flow, cookies } = started();
    expect(openFlow(state, URI, cookies, { now: at(599), encryptor })).toEqual(flow);
    expect(flow).toMatchObject({ codeVerifier: expect.stringMatching(/^[\w-]{43}$/), endsAt: at(600) });
    expect(flow.nonce).not.toBe(flow.codeVerifier);
  });

  it("a state opens with ENCRYPTION_KEY_PREVIOUS too", () => {
    const { state, flow, cookies } = started();
    const rotated = createEncryptor(randomBytes(32), [key]);
    expect(openFlow(state, URI, cookies, { now: T0, encryptor: rotated })).toEqual(flow);
  });

  it("a state is unknown under another key, for another redirect address, with a changed character, and after ten minutes", () => {
    const { state, cookies } = started();
    const open = (given: string, uri = URI, now = T0, by = encryptor) =>
      openFlow(given, uri, cookies, { now, encryptor: by });
    expect(open(state, URI, T0, createEncryptor(randomBytes(32)))).toBe("unknown");
    expect(open(state, `${URI}2`)).toBe("unknown");
    expect(open(state, URI, at(600))).toBe("unknown");
    for (let index = 0; index < state.length; index += 1) {
      const other = state[index] === "A" ? "B" : "A";
      expect(open(state.slice(0, index) + other + state.slice(index + 1)), `character ${index}`).toBe("unknown");
    }
    for (const given of ["", "x", state.slice(1), `${state}A`, "A".repeat(95)]) expect(open(given)).toBe("unknown");
  });

  it("a state is unknown in every other spelling of its bytes, of which the last character allows three", () => {
    const { state, cookies } = started();
    const others = spellingsOf(state);
    expect(others).toHaveLength(3);
    for (const other of others)
      expect(openFlow(other, URI, cookies, { now: T0, encryptor }), other.slice(-1)).toBe("unknown");
  });

  it("a state does not last longer because the clock was set back", () => {
    const { state, cookies } = started();
    expect(openFlow(state, URI, cookies, { now: at(-3_600), encryptor })).toBe("unknown");
  });

  it.each([
    ["the one of another flow", () => started().cookies],
    ["none", () => undefined],
    ["there twice", ({ cookies }: ReturnType<typeof started>) => [...cookies, ...cookies]],
    ["changed", ({ cookies }: ReturnType<typeof started>) => cookies.map((line) => `${line}A`)],
    [
      "of this name with the value of another flow",
      ({ cookie }: ReturnType<typeof started>) => [`${cookie.name}=${started().cookie.value}`],
    ],
  ])("a state belongs to another browser where the cookie is %s", (_title, cookiesOf) => {
    const flow = started("the-cart");
    expect(openFlow(flow.state, URI, cookiesOf(flow), { now: T0, encryptor })).toBe("of another browser");
  });

  it("a state binds the application's value, which no browser can change", () => {
    const { state, flow, cookie } = started("the cart é");
    expect(flow.context).toBe("the cart é");
    const open = (value: string) => openFlow(state, URI, [`${cookie.name}=${value}`], { now: T0, encryptor });
    expect(open(cookie.value)).toEqual(flow);
    const [secret = ""] = cookie.value.split(".");
    for (const value of [secret, `${secret}.${Buffer.from("another").toString("base64url")}`])
      expect(open(value)).toBe("of another browser");
  });
});

describe("a cookie", () => {
  it("a cookie counts as missing where the browser sends two of its name, in one line or in two", () => {
    for (const lines of [["a=1; a=2"], ["a=1", "a=2"], ["a=1", "a=1"]])
      expect(cookieOf(lines, "a", /^\d$/)).toBeUndefined();
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

  it("the start gives one state, which no other spelling of its bytes repeats under another event id", () =>
    withReceiver("sqlite", async (receiver) => {
      const base = `${receiver.publicOrigin}/api/platform`;
      const started = await fetch(`${base}/oauth-start`, { redirect: "manual" });
      const cookie = started.headers.get("set-cookie")?.split(";")[0] ?? "";
      const state = new URL(started.headers.get("location") ?? "").searchParams.get("state") ?? "";
      const arrive = (given: string) => fetch(`${base}/oauth-callback?code=c1&state=${given}`, { headers: { cookie } });
      expect((await arrive(state)).status).toBe(200);
      for (const other of spellingsOf(state)) {
        const answer = await arrive(other);
        expect([answer.status, await answer.json()]).toEqual([401, { error: "invalid state" }]);
      }
      expect(await receiver.count("oncehook_records")).toBe(1);
    }));

  const startOf = (origin: string, query = "", headers = {}) =>
    fetch(`${origin}/api/platform/oauth-start${query}`, { redirect: "manual", headers });

  it("the start of a sixth flow ends the oldest of a browser", () =>
    withReceiver("sqlite", async ({ publicOrigin }) => {
      const pairs: string[] = [];
      for (let count = 0; count < 6; count += 1) {
        const lines = (await startOf(publicOrigin, "", { cookie: pairs.join("; ") })).headers.getSetCookie();
        pairs.push(lines.at(-1)?.split(";")[0] ?? "");
        const ended = count < 5 ? [] : [expect.stringContaining(`${pairs[0]?.split("=")[0]}=; Path=/; Max-Age=0;`)];
        expect(lines.slice(0, -1)).toEqual(ended);
      }
    }));

  it.each([
    ["a picture of another page", { "sec-fetch-dest": "image" }, "", 503],
    ["a frame of another page", { "sec-fetch-dest": "iframe" }, "", 503],
    ["a look ahead", { "sec-purpose": "prefetch" }, "", 503],
    ["a value of the application with more than 512 bytes", {}, `?context=${"é".repeat(257)}`, 400],
  ])("the start of a flow by %s sets no cookie", (_title, headers, query, status) =>
    withReceiver("sqlite", async ({ publicOrigin }) => {
      const response = await startOf(publicOrigin, query, headers);
      expect([response.status, response.headers.getSetCookie()]).toEqual([status, []]);
    }),
  );

  it("the start lets the browser send the cookie from the platform's own page where that posts a form", () =>
    withReceiver(
      "sqlite",
      async ({ publicOrigin }) => {
        const { headers } = await startOf(publicOrigin);
        expect(headers.get("set-cookie")).toMatch(/; Secure; HttpOnly; SameSite=None$/);
      },
      { env: { OAUTH_RESPONSE_MODE: "form_post" } },
    ));
});
