import { type CallbackResponse, toCallbackResponse } from "../../src/testing/post-callback.ts";
import { UserAgent } from "./user-agent.ts";

export interface Asking {
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

/** The receiver's own page in a browser: it keeps the cookie, and the browser says where a request comes from. */
export class OwnPage {
  readonly #agent: UserAgent;
  readonly #origin: string;

  constructor(origin: string, agent = new UserAgent()) {
    this.#origin = origin;
    this.#agent = agent;
  }

  async ask(method: string, path: string, { body, headers }: Asking = {}): Promise<CallbackResponse> {
    const response = await this.#agent.request(this.#origin + path, {
      method,
      headers: {
        accept: "application/json",
        "sec-fetch-site": "same-origin",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return toCallbackResponse(response);
  }

  signIn(token: string): Promise<CallbackResponse> {
    return this.ask("POST", "/api/v1/session", { body: { token } });
  }
}

/** What a session's cookie holds, in the answer that set it. */
export function sessionIdIn({ headers }: { readonly headers: Headers }): string {
  const found = headers
    .getSetCookie()
    .flatMap((line) => /^(?:__Host-)?oncehook-session(?:-\d+)?=([\w-]{43});/.exec(line)?.[1] ?? []);
  if (found.length !== 1) throw new Error(`expected one session, got ${headers.getSetCookie().join(" | ")}`);
  return found[0] as string;
}
