export interface AdminClientOptions {
  /** Of the admin listener. Left out, the page's own. */
  readonly origin?: string;
  /** ADMIN_TOKEN, or ADMIN_VIEWER_TOKEN. Left out, the cookie of a session goes along, in a page of the same origin. */
  readonly token?: string;
  /** Instead of the global one. */
  readonly fetch?: typeof fetch;
  /** Ends every request that takes longer; in milliseconds. */
  readonly timeLimitMs?: number;
}

export interface RequestOptions {
  /** Of texts, numbers and booleans; what is undefined is left out. */
  readonly query?: object;
  readonly body?: object;
}

export type SendRequest = <Answer>(method: string, path: string, asked?: RequestOptions) => Promise<Answer>;

/** What a stream is opened with. */
export interface StreamOptions {
  readonly query: object;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Opens a stream. @throws AdminError where the receiver refuses */
export type OpenStream = (path: string, opening: StreamOptions) => Promise<Response>;

/** The receiver refused. */
export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly status: number;
  /** Whether another program than the receiver's admin listener answered. */
  readonly isOtherServer: boolean;

  constructor(status: number, message: string, isForeign = false) {
    super(message);
    this.status = status;
    this.isOtherServer = isForeign;
  }
}

/** The address of a path below the API's. @param query what is undefined is left out */
export function urlOf({ origin = "" }: AdminClientOptions, path: string, query: object = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${origin}/api/v1/${path}${search.size === 0 ? "" : `?${search}`}`;
}

export function createRequest(options: AdminClientOptions): SendRequest {
  const { timeLimitMs, fetch: send = fetch } = options;
  return async <Answer>(
    method: string,
    path: string,
    { query, body }: RequestOptions = {},
  ): Promise<Answer> => {
    const url = urlOf(options, path, query);
    const response = await send(url, {
      ...baseInit(options),
      method,
      headers: {
        ...baseInit(options).headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(timeLimitMs === undefined ? {} : { signal: AbortSignal.timeout(timeLimitMs) }),
    });
    if (response.status === 204) return undefined as Answer;
    const answer = await jsonOf(response, url);
    if (response.ok) return answer as Answer;
    throw adminErrorOf(response, answer);
  };
}

export function createOpenStream(options: AdminClientOptions): OpenStream {
  const { fetch: send = fetch } = options;
  return async (path, { query, headers, signal }) => {
    const url = urlOf(options, path, query);
    const given = baseInit(options);
    const response = await send(url, { ...given, headers: { ...given.headers, ...headers }, signal });
    if (response.ok) return response;
    throw adminErrorOf(response, await jsonOf(response, url));
  };
}

/** An address that sends the token elsewhere is no receiver's. */
function baseInit({ token }: AdminClientOptions) {
  return {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    credentials: token === undefined ? "same-origin" : "omit",
    redirect: "error",
  } as const;
}

function adminErrorOf({ status }: Response, answer: unknown): AdminError {
  const { error } = (answer ?? {}) as { error?: unknown };
  return new AdminError(status, typeof error === "string" ? error : `answered ${status}`);
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
