import type { Config } from "../config/index.ts";
import { load } from "./load.ts";
import { UserMistake } from "./user-mistake.ts";

export interface AdminOptions {
  readonly adminPort?: string;
  readonly env?: string;
}

export interface AdminRequest {
  readonly method: "GET" | "POST";
  /** With its query. */
  readonly path: string;
  readonly body?: object;
  /** How long the answer may take: some of them run a handler first. */
  readonly timeLimitMs?: (config: Config) => number;
}

const TIME_LIMIT_MS = 10_000;

/**
 * Asks the admin API of the running receiver and returns its answer.
 * @throws UserMistake when there is none, or any other than a success
 */
export async function askAdmin<Answer>(options: AdminOptions, asked: AdminRequest): Promise<Answer> {
  const { config } = await load(options);
  const url = `${originOf(config, options.adminPort)}${asked.path}`;
  const timeLimitMs = asked.timeLimitMs?.(config) ?? TIME_LIMIT_MS;
  const response = await request(url, config.admin.token, asked, timeLimitMs);
  const answer = await jsonOf(response, url);
  if (response.ok) return answer as Answer;
  const hint = response.status === 401 ? " ADMIN_TOKEN here is another than the receiver's." : "";
  throw new UserMistake(`the receiver answered ${response.status}: ${errorOf(answer)}.${hint}`);
}

function originOf({ admin }: Config, port: string | undefined): string {
  const host = admin.host.includes(":") ? `[${admin.host}]` : admin.host;
  const origin = `http://${host}:${port ?? admin.port}`;
  if (URL.canParse(origin)) return origin;
  throw new UserMistake(`--admin-port: got ${JSON.stringify(port)}, expected a whole number from 1 to 65535`);
}

async function request(
  url: string,
  token: string,
  { method, body }: AdminRequest,
  timeLimitMs: number,
): Promise<Response> {
  const content = body === undefined ? {} : { "content-type": "application/json" };
  try {
    return await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, ...content },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "manual",
      signal: AbortSignal.timeout(timeLimitMs),
    });
  } catch (cause) {
    const isLate = cause instanceof Error && cause.name === "TimeoutError";
    const message = isLate
      ? `${url} has not answered within ${timeLimitMs / 1000} s; what was asked may still be done`
      : `${url} did not answer. Is the receiver running (npm start), with these variables?`;
    throw new UserMistake(message, { cause });
  }
}

async function jsonOf(response: Response, url: string): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message =
      `${url} answered ${response.status} with something that is not JSON, so another program than the receiver's ` +
      "admin listener is there; give its port with ADMIN_PORT or --admin-port";
    throw new UserMistake(message, { cause });
  }
}

function errorOf(answer: unknown): string {
  const { error } = (answer ?? {}) as { error?: unknown };
  return typeof error === "string" ? error : JSON.stringify(answer);
}
