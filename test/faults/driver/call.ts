import { createHmac } from "node:crypto";
import { request } from "undici";
import { SECRET } from "../../support/secrets.ts";

export interface Called {
  readonly status: number;
  readonly text: string;
}

/** One callback beside those of the platform. @param secret another one than the platform's makes a forgery of it */
export async function call(origin: string, body: string | Buffer, secret = SECRET): Promise<Called> {
  const bytes = Buffer.from(body);
  const headers = {
    "content-type": "application/json",
    "x-signature": createHmac("sha256", secret).update(bytes).digest("hex"),
  };
  const response = await request(`${origin}/api/platform/callback`, { method: "POST", headers, body: bytes });
  return { status: response.statusCode, text: await response.body.text() };
}

/** An event of another type than the platform sends in a round. */
export function strayEvent(id: string, type: string): string {
  const data = { from: "account-0", to: "account-1", cents: 1 };
  return JSON.stringify({ event_id: id, event_type: type, timestamp: 1_767_225_600, data });
}
