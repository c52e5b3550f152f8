export interface Options {
  /** Of the admin listener. Left out, the page's own. */
  readonly origin?: string;
  /** ADMIN_TOKEN, or ADMIN_VIEWER_TOKEN. Left out, the cookie of a session goes along, in a page of the same origin. */
  readonly token?: string;
  /** Instead of the global one. */
  readonly fetch?: typeof fetch;
  /** Ends every request that takes longer; in milliseconds. */
  readonly timeLimitMs?: number;
}

export interface Asked {
  /** Of texts, numbers and booleans; what is undefined is left out. */
  readonly query?: object;
  readonly body?: object;
}

export type Request = <Answer>(method: string, path: string, asked?: Asked) => Promise<Answer>;

/** The receiver refused. */
export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly status: number;
  /** Whether another program than the receiver's admin listener answered. */
  readonly isForeign: boolean;

  constructor(status: number, message: string, isForeign = false) {
    super(message);
    this.status = status;
    this.isForeign = isForeign;
  }
}

export function createRequest({ origin = "", token, timeLimitMs, ...options }: Options): Request {
  const send = options.fetch ?? fetch;
  return async <Answer>(method: string, path: string, { query = {}, body }: Asked = {}): Promise<Answer> => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) search.set(name, String(value));
    const url = `${origin}/api/v1/${path}${search.size === 0 ? "" : `?${search}`}`;
    const response = await send(url, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      credentials: token === undefined ? "same-origin" : "omit",
      // An address that sends the token elsewhere is no receiver's.
      redirect: "error",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(timeLimitMs === undefined ? {} : { signal: AbortSignal.timeout(timeLimitMs) }),
    });
    if (response.status === 204) return undefined as Answer;
    const answer = await jsonOf(response, url);
    if (response.ok) return answer as Answer;
    const { error } = (answer ?? {}) as { error?: unknown };
    throw new AdminError(response.status, typeof error === "string" ? error : `answered ${response.status}`);
  };
}

async function jsonOf(response: Response, url: string): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    const says =
      `${url} answered ${response.status} with something that is not JSON, so another program than the receiver's ` +
      "admin listener is there";
    throw new AdminError(response.status, says, true);
  }
}
