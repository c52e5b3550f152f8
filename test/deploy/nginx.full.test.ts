import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { payment } from "../support/receiver.ts";
import { behindAProxy, signature } from "./behind-a-proxy.ts";
import { letsListen } from "./listens-through.ts";
import { notRun, onThePath } from "./on-the-path.ts";
import { ask, exchange, OTHER_ADDRESS, PATIENT_MS } from "./proxy-client.ts";
import { holdsItsPromises } from "./proxy-promises.ts";
import { startNginx } from "./start-nginx.ts";

const program = onThePath("nginx");

describe("deploy/nginx/oncehook.conf", () => {
  if (program === undefined) {
    it.skip(notRun("nginx", "a receiver behind a real nginx"), () => {});
    return;
  }
  const lend = (use: Parameters<typeof behindAProxy>[1], env?: Record<string, string>) =>
    behindAProxy((files) => startNginx(program, files), use, env);
  holdsItsPromises(lend);
  letsListen(lend);

  it("nginx returns 429 with Retry-After before the receiver's own limit does", () =>
    lend(async (proxied) => {
      const { receiver } = proxied;
      // Unsigned, so that a slow disk does not slow them down: whatever passes is 401.
      const once = () => ask(proxied, { body: "{}" });
      let refused: Awaited<ReturnType<typeof once>> | undefined;
      for (let round = 0; round < 50 && refused === undefined; round += 1) {
        const answers = await Promise.all(Array.from({ length: 100 }, once));
        expect(new Set(answers.map(({ status }) => status).filter((status) => status !== 429))).toEqual(new Set([401]));
        refused = answers.find(({ status }) => status === 429);
      }
      expect(JSON.parse(refused?.text ?? "")).toEqual({ error: "too many requests" });
      expect(refused?.headers).toMatchObject({ "retry-after": "1" });
      expect(refused?.headers["ratelimit-policy"]).toBeUndefined();
      expect(await receiver.count("oncehook_callbacks", "response_status = 429")).toBe(0);
    }));

  it.each([
    ["bytes that are not HTTP", "nonsense\r\n\r\n", 400, "malformed request"],
    [
      "a length and chunks",
      "POST /api/platform/callback HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
      400,
      "malformed request",
    ],
    [
      "headers that are too long",
      `POST /api/platform/callback HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"x".repeat(40_000)}\r\n\r\n`,
      431,
      "headers too large",
    ],
  ])("nginx words its own refusals as the receiver does: %s", (_title, bytes, status, message) =>
    lend(async (proxied) => {
      const answer = await exchange(proxied, bytes, PATIENT_MS);
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(answer).toContain(`{"error":"${message}"}`);
      expect(answer).not.toContain("<html>");
    }),
  );

  it("nginx writes no OAuth code to its logs", () =>
    lend(async (proxied) => {
      const path = "/api/platform/oauth-callback?code=a-code-of-a-user&state=x";
      const answers = await Promise.all(
        Array.from({ length: 60 }, () => ask(proxied, { method: "GET", path, from: OTHER_ADDRESS })),
      );
      expect(answers.some(({ status }) => status === 429)).toBe(true);
      const body = JSON.stringify(payment());
      await ask(proxied, { body, headers: { "x-signature": signature(body) } });
      const read = (name: string) => readFile(join(proxied.folder, name), "utf8");
      const [access, errors] = [await read("access.log"), await read("error.log")];
      expect(access).toContain("GET /api/platform/oauth-callback");
      expect(`${access}${errors}`).not.toContain("a-code-of-a-user");
    }));
});
