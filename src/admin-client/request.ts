export interface AdminClientOptions {
  /** Of the admin listener, with the path of a page in an application; by default that of the page. */
  readonly origin?: string;
  /** ADMIN_TOKEN, or ADMIN_VIEWER_TOKEN. Without it a page of the same origin sends the session's cookie. */
  readonly token?: string;
  readonly fetch?: typeof fetch;
  /** Ends every request that takes longer; in milliseconds. */
  readonly timeLimitMs?: number;
}

interface RequestOptions {
  /** Of texts, numbers and booleans; undefined fields are left out. */
  readonly query?: object;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Requests to the admin API. Both throw AdminError where the receiver refuses. */
export type Requests = ReturnType<typeof createRequests>;

export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly status: number;
  /** Whether another program than the receiver's admin listener answered. */
  readonly isOtherServer: boolean;

  constructor(status: number, message: string, isOtherServer = false) {
    super(message);
    this.status = status;
    this.isOtherServer = isOtherServer;
  }
}

/** The URL of a path of the API. @param query undefined fields are left out */
export function urlOf({ origin = "" }: AdminClientOptions, path: string, query: object = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${origin}/api/v1/${path}${search.size === 0 ? "" : `?${search}`}`;
}

export function createRequests(options: AdminClientOptions) {
  const { token, timeLimitMs, fetch: send = fetch } = options;
  /** For a response that is read as it comes: only the signal limits its time. */
  async function open(method: string, path: string, asked: RequestOptions = {}): Promise<Response> {
    const { query, body, headers, signal = null } = asked;
    const url = urlOf(options, path, query);
    const response = await send(url, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      credentials: token === undefined ? "same-origin" : "omit",
      // An address that sends the token elsewhere is no receiver's.
      redirect: "error",
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    const { status } = response;
    const { error } = ((await jsonOf(response, url)) ?? {}) as { error?: unknown };
    throw new AdminError(status, typeof error === "string" ? error : `answered ${status}`);
  }
  async function request<Answer>(method: string, path: string, asked: RequestOptions = {}): Promise<Answer> {
    const limits = timeLimitMs === undefined ? [] : [AbortSignal.timeout(timeLimitMs)];
    const signal = AbortSignal.any(asked.signal === undefined ? limits : [asked.signal, ...limits]);
    const response = await open(method, path, { ...asked, signal });
    const url = urlOf(options, path, asked.query);
    return (response.status === 204 ? undefined : await jsonOf(response, url)) as Answer;
  }
  return { request, open };
}

async function jsonOf(response: Response, url: string): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    const message =
      `${url} answered ${response.status} with something that is not JSON, so another program than the receiver's ` +
      "admin listener is there";
    throw new AdminError(response.status, message, true);
  }
}
