import { signHmac } from "../sources/index.ts";

export interface CallbackResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The response's JSON; `{ text }` where it is none. */
  readonly body: Record<string, unknown>;
}

export interface CallbackRequest {
  readonly body: Uint8Array;
  /** Sent as `X-Event-Type` where there is one. */
  readonly type?: string | undefined;
  /** These win over the ones that are made here. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Posts a callback as a platform does, its bytes signed with the secret (SPEC 4.1). */
export async function postCallback(url: string, secret: string, { body, type, headers = {} }: CallbackRequest) {
  const sent = new Headers({ "content-type": "application/json", "x-signature": signHmac(secret, body) });
  if (type !== undefined) sent.set("x-event-type", type);
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  return toCallbackResponse(await fetch(url, { method: "POST", body: Buffer.from(body), headers: sent }));
}

export async function toCallbackResponse(response: Response): Promise<CallbackResponse> {
  const text = await response.text();
  // The response to Slack is empty, whatever its content type.
  const isJson = text !== "" && response.headers.get("content-type")?.startsWith("application/json") === true;
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : { text } };
}
