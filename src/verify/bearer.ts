import { createHash, timingSafeEqual } from "node:crypto";

/** Whether `Authorization` carries the admin token; both sides are hashed, so that the time tells no length either. */
export function createBearerCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = digest(token);
  return (authorization) => {
    const [, given] = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? "") ?? [];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
