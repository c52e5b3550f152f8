import type { KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { createJwtScheme, type HeldBody, secretKeys } from "../../src/sources/index.ts";
import type { JwtOptions } from "../../src/sources/schemes/jwt.ts";
import { POSTED } from "./posted.ts";

export const NOW = new Date("2026-03-04T12:00:00Z");
export const SECRET = "a-shared-secret-of-32-bytes-or-so";
export const BODY = Buffer.from('{"event_id":"e1"}');
export const seconds = (date: Date) => Math.floor(date.getTime() / 1000);
export const CLAIMS = { iss: "https://platform.example", aud: "oncehook", exp: seconds(NOW) + 60 };

const OPTIONS: JwtOptions = {
  algorithm: "HS256",
  keys: secretKeys([SECRET]),
  header: "Authorization",
  issuer: CLAIMS.iss,
  audience: CLAIMS.aud,
  clockToleranceSeconds: 5,
  bodyClaim: null,
  clock: { now: () => NOW },
};

type SigningKey = KeyObject | Uint8Array;
export const token = (claims: object, header: object = { alg: "HS256" }, key: SigningKey = Buffer.from(SECRET)) =>
  new SignJWT({ ...claims }).setProtectedHeader(header as { alg: string }).sign(key);
export const verify = (
  jwt: string,
  over: Partial<JwtOptions> = {},
  headers?: Record<string, string[]>,
  bodyReservation?: HeldBody,
) =>
  createJwtScheme({ ...OPTIONS, ...over }).verify({
    ...POSTED,
    body: BODY,
    headers: headers ?? { authorization: [`Bearer ${jwt}`] },
    bodyReservation,
  });
