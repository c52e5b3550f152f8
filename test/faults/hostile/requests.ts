import { createHmac } from "node:crypto";
import type { Chance } from "../driver/chance.ts";
import { hostileBody } from "./bodies.ts";

const PATHS = [
  "/api/platform/callback",
  "/api/platform/callback",
  "/api/platform/callback",
  "/api/v1/platform/callback",
  "/api/v2/platform/callback",
  "/api/platform/callback/",
  "/api/platform//callback",
  "/api/platform/../platform/callback",
  "/api/platform/callback?a=%00&b=%zz",
  "/api/platform/callback%2f..",
  "//evil.example/api/platform/callback",
  "http://evil.example/api/platform/callback",
  "*",
  "/metrics",
  "/api/v1/failures",
  "/api/platform/oauth?code=1&state=2",
];
const METHODS = ["POST", "POST", "POST", "POST", "GET", "PUT", "HEAD", "OPTIONS", "TRACE", "CONNECT", "post", "P\0ST"];

/** Header lines that have been the way in elsewhere. */
const HEADERS = [
  "Content-Length: 0",
  "Content-Length: 1",
  "Content-Length: +5",
  "Content-Length: 99999999999999999999",
  "Content-Length : 5",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: xchunked",
  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding:\tchunked",
  "Expect: 100-continue",
  "Expect: 200-ok",
  "Upgrade: websocket\r\nConnection: Upgrade",
  "Content-Encoding: gzip",
  "Content-Type: application/json; charset=utf-16",
  "X-Signature:",
  "X-Signature: 0",
  `X-Signature: ${"a".repeat(64)}`,
  `X-Signature: ${"A".repeat(64)}`,
  `X-Signature: sha256=${"a".repeat(64)}`,
  "X-Event-Type: payment_notify",
  "X-Event-Type: __proto__",
  "X-Event-Type: \u001b[31mred",
  "X-API-Version: v2",
  "X-API-Version: ../v1",
  "X-Forwarded-For: 127.0.0.1, ::1",
  "X-Forwarded-Proto: https",
  "Forwarded: for=127.0.0.1;proto=https",
  "Host: evil.example",
  "Authorization: Bearer x",
  "Cookie: a=b",
  " folded: continued",
  "no colon here",
  ": nameless",
  "X-Nul: a\0b",
  `X-Long: ${"x".repeat(20_000)}`,
  ...Array.from({ length: 3 }, (_, at) => `__proto__: ${at}`),
];

/** One hostile request, as bytes for a socket; more than half of them are signed right, so that they come further in. */
export function hostileRequest(chance: Chance, secret: string, naughty: readonly string[]): Buffer {
  const body = hostileBody(chance, naughty);
  const isSigned = chance.is(0.65);
  const signature = createHmac("sha256", isSigned ? secret : "another")
    .update(body)
    .digest("hex");
  const lines = ["Host: oncehook", "Connection: close", `Content-Length: ${body.length}`, `X-Signature: ${signature}`];
  if (chance.is(0.3)) lines.push(chance.pick(HEADERS));
  if (chance.is(0.1)) lines.push(`X-Strange: ${chance.pick(naughty)}`);
  if (chance.is(0.05)) lines.splice(chance.below(lines.length), 1);
  if (chance.is(0.05)) lines.push(chance.pick(lines));
  const method = chance.is(0.85) ? "POST" : chance.pick(METHODS);
  const path = chance.is(0.85) ? PATHS[0] : chance.pick(PATHS);
  const version = chance.is(0.97) ? "HTTP/1.1" : chance.pick(["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTP/1.1", ""]);
  const end = chance.is(0.98) ? "\r\n" : chance.pick(["\n", "\r", "\r\n\r\n", "\r\n \r\n"]);
  const head = `${method} ${path} ${version}${end}${lines.join(end)}${end}${end}`;
  return Buffer.concat([Buffer.from(head, "utf8"), body]);
}
