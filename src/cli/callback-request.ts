import { signHmac } from "../verify/index.ts";

export interface SignedCallback {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A callback as a platform would send it (SPEC 4.1): the signature covers exactly these bytes. */
export function signedCallback(secret: string, event: object, type: string): SignedCallback {
  const body = JSON.stringify(event);
  return {
    body,
    headers: {
      "content-type": "application/json",
      "x-signature": signHmac(secret, Buffer.from(body)),
      "x-timestamp": String(Math.floor(Date.now() / 1000)),
      "x-event-type": type,
    },
  };
}
