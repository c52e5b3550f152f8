import { expect, it } from "vitest";
import { payment, TOKEN } from "../support/receiver.ts";
import { type BehindAProxy, signature } from "./behind-a-proxy.ts";
import { ask, exchange, OTHER_ADDRESS, PATIENT_MS, PLATFORM } from "./proxy-client.ts";

type Lend = (use: (proxied: BehindAProxy) => Promise<void>, env?: Record<string, string>) => Promise<void>;

const signedBy = (body: string | Uint8Array) => ({
  "x-signature": signature(body),
  "x-event-type": "payment_notify",
});

/** What every proxy of deploy/ keeps, whichever it is. */
export function holdsItsPromises(lend: Lend): void {
  it("serves a signed callback over HTTPS, its bytes untouched, in one piece and in chunks", () =>
    lend(async (proxied) => {
      const odd = ` {\r\n"data" : {"order_id":"\\u00e9\u00e9 \u{1f600}","amount":1e1},\t"timestamp":1767225600,`;
      const bodies = [
        { body: `${odd} "event_id":"odd-1","event_type":"payment_notify"}\n\n`, chunked: false },
        { body: `${odd} "event_id":"odd-2","event_type":"payment_notify"}\n\n`, chunked: true },
      ];
      for (const { body, chunked } of bodies) {
        const { status, text } = await ask(proxied, { body, chunked, headers: signedBy(body) });
        expect([status, JSON.parse(text).status]).toEqual([200, "success"]);
      }
      // Authentic, and no event: every byte from 0 to 255 came through, or it would be 401.
      const bytes = Uint8Array.from({ length: 256 }, (_, value) => value);
      const answer = await ask(proxied, { body: bytes, headers: signedBy(bytes) });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("UTF-8")]);
    }));

  it("refuses plain HTTP, and does not redirect it", () =>
    lend(async (proxied) => {
      const body = JSON.stringify(payment());
      const answer = await ask(proxied, { plain: true, body, headers: signedBy(body) });
      expect([answer.status, answer.headers.location]).toEqual([403, undefined]);
      expect(JSON.parse(answer.text)).toEqual({ error: "HTTPS required" });
      expect(await proxied.receiver.count("oncehook_callbacks")).toBe(0);
    }));

  it("passes the client's address on, and nothing that the client claims about it", () =>
    lend(async (proxied) => {
      const body = JSON.stringify(payment());
      const claims = {
        "x-forwarded-for": "198.51.100.7",
        "x-forwarded-proto": "http",
        "x-real-ip": "198.51.100.7",
        forwarded: "for=198.51.100.7",
      };
      const { status } = await ask(proxied, { body, headers: { ...signedBy(body), ...claims } });
      expect(status).toBe(200);
      const { receiver } = proxied;
      expect(await receiver.count("oncehook_callbacks", `remote_address = '${PLATFORM}'`)).toBe(1);
      expect(await receiver.count("oncehook_callbacks", "request_headers LIKE '%198.51.100.7%'")).toBe(0);
    }));

  it("lets no callback pass that comes from off the allow list, and browsers all the same", () =>
    lend(async (proxied) => {
      const body = JSON.stringify(payment());
      const answer = await ask(proxied, { from: OTHER_ADDRESS, body, headers: signedBy(body) });
      expect([answer.status, JSON.parse(answer.text)]).toEqual([403, { error: "address not allowed" }]);
      expect(await proxied.receiver.count("oncehook_callbacks")).toBe(0);
      const page = await ask(proxied, { from: OTHER_ADDRESS, method: "GET", path: "/api/platform/oauth-done" });
      expect([page.status, page.text]).toEqual([200, expect.stringContaining("You are signed in")]);
    }));

  it("passes on what the receiver refuses as too long, and ends by itself what no platform sends", () =>
    lend(async (proxied) => {
      for (const [bytes, byReceiver] of [
        [1_048_577, true],
        [52_428_801, false],
      ] as const) {
        const body = Buffer.alloc(bytes, "x");
        for (const chunked of [false, true]) {
          const expects = byReceiver || chunked ? {} : { expect: "100-continue" };
          const asked = ask(proxied, { body, chunked, headers: { ...signedBy(body), ...expects } });
          const answer = await asked.catch((error: NodeJS.ErrnoException) => {
            // What a client sends past an early answer resets its connection, at times before the answer is read.
            expect([chunked, error.code]).toEqual([true, expect.stringMatching(/^(ECONNRESET|EPIPE)$/)]);
          });
          if (answer === undefined) continue;
          expect([answer.status, JSON.parse(answer.text).error]).toEqual([413, "body too large"]);
          expect(answer.headers["x-request-id"] !== undefined).toBe(byReceiver);
        }
      }
    }));

  it.each([
    ["/metrics"],
    ["/healthz"],
    ["/api/v1/failures"],
    ["/api/platform/callback/../../../metrics"],
    ["/api/platform/callback/%2e%2e/%2e%2e/%2e%2e/metrics"],
    ["/metrics?/api/platform/callback"],
  ])("reaches nothing of the admin listener by %s", (path) =>
    lend(async (proxied) => {
      const { host } = new URL(proxied.receiver.adminOrigin);
      const headers = { authorization: `Bearer ${TOKEN}` };
      const { status, text } = await ask(proxied, { method: "GET", path, headers });
      expect([status, JSON.parse(text)]).toEqual([404, { error: "not found" }]);
      const absolute = `GET http://${host}${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      expect(await exchange(proxied, absolute)).not.toMatch(/oncehook_|callback_requests_total|"ok"|^HTTP\/1.1 200/);
    }),
  );

  it("answers as the receiver words it when no receiver takes connections", () =>
    lend(async (proxied) => {
      await proxied.receiver.stop();
      const body = JSON.stringify(payment());
      const answer = await ask(proxied, { body, headers: signedBy(body) });
      expect([answer.status, JSON.parse(answer.text)]).toEqual([503, { error: "temporarily unavailable" }]);
      expect(answer.headers["retry-after"]).toBe("5");
    }));

  it.each(SMUGGLED)("lets no second request be smuggled by %s", (_title, build) =>
    lend(async (proxied) => {
      const inner = JSON.stringify(payment({ event_id: "smuggled" }));
      const hidden =
        `POST /api/platform/callback HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Signature: ${signature(inner)}\r\n` +
        `Content-Length: ${inner.length}\r\n\r\n${inner}`;
      const answers = await exchange(proxied, build(hidden));
      // What a proxy takes for a request of its own is no smuggling; what it did not see must not be handled.
      const seen = answers.match(/^HTTP\/1\.1 /gm) ?? [];
      expect(seen.length).toBeLessThanOrEqual(1);
      const handled = () => proxied.receiver.count("oncehook_records", "event_id = 'smuggled'");
      expect(await handled()).toBe(0);
      // Sent openly it is one that is handled.
      expect(await exchange(proxied, hidden, PATIENT_MS)).toMatch(/^HTTP\/1\.1 200 /);
      expect(await handled()).toBe(1);
    }),
  );
}

const HEAD = "POST /api/platform/callback HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

/** Forms in which one side reads a length and the other one chunks, or two sides read two lengths. */
const SMUGGLED: [string, (hidden: string) => string][] = [
  [
    "a length that ends before the chunks do",
    (hidden) => `${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  ],
  [
    "chunks inside a length",
    (hidden) => `${HEAD}Transfer-Encoding: chunked\r\nContent-Length: ${chunk(hidden).length}\r\n\r\n${chunk(hidden)}`,
  ],
  ["two lengths", (hidden) => `${HEAD}Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`],
  [
    "a coding that is nearly chunked",
    (hidden) => `${HEAD}Transfer-Encoding: xchunked\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  ],
  [
    "a blank before the colon",
    (hidden) => `${HEAD}Transfer-Encoding : chunked\r\nContent-Length: ${hidden.length}\r\n\r\n0\r\n\r\n${hidden}`,
  ],
  [
    "a coding on a folded line",
    (hidden) => `${HEAD}Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden}`,
  ],
  ["a length with a sign", (hidden) => `${HEAD}Content-Length: +${hidden.length}\r\n\r\n${hidden}`],
];
