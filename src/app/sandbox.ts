import type { Sandbox, SandboxError } from "../admin/index.ts";
import type { Config } from "../config/index.ts";
import { endpointPaths } from "../domain/index.ts";
import { readTlsPair } from "../http/index.ts";
import type { Services } from "./services.ts";

/** Where the two listeners of this process can be reached from it; empty until they listen. */
export interface ListenerOrigins {
  readonly public: string;
  readonly admin: string;
}

/** Loaded on first use, to keep the start fast. */
const loadSandbox = () => import("../dev/sandbox/index.ts");

/** Longer than the listener takes to answer that it took too long. */
const MARGIN_MS = 5_000;
const CONFIGURED =
  "an authorization server is configured (OAUTH_ISSUER or OAUTH_TOKEN_URL), so that flows go there; the sandbox platform stands in " +
  "where there is none";

export function createSandbox(
  config: Config,
  { receiver, mask }: Services,
  origins: ListenerOrigins,
): Sandbox | null {
  if (config.environment === "production") return null;
  const redirectUri = config.redirect.uri;
  return {
    redirectUri,
    async samples() {
      const { samplesOf } = await loadSandbox();
      return { events: await samplesOf(receiver.registry, receiver.clock.now()) };
    },
    send: ({ body, path = "/api/platform/callback", version, sign = "right" }) =>
      orSandboxError(async ({ sendEvent }) => {
        const composed = { body, sign, ...(version === undefined ? {} : { version }) };
        const listener = await ownListener(config, origins);
        const sent = await sendEvent(composed, config.basePath + path, config.authentication, listener);
        const { url, requestHeaders, status, headers, body: answer, durationMs } = sent;
        return {
          request: { method: "POST" as const, url, headers: mask.headers(requestHeaders), body },
          response: { status, headers: mask.headers(headers), body: answer },
          duration_ms: durationMs,
        };
      }),
    async runOAuthFlow() {
      if (config.oauth !== null) return { status: 409, error: CONFIGURED };
      const { start = "" } = endpointPaths(config.basePath, config.redirect.scopePath);
      const receiverAt = await ownListener(config, origins);
      return orSandboxError(async ({ runOAuthFlow }) => {
        const { steps, isSignedIn } = await runOAuthFlow({
          receiver: receiverAt,
          registeredOrigin: new URL(config.baseUrl).origin,
          startPath: start,
          redirectUri,
          platformOrigin: origins.admin,
        });
        const masked = steps.map((step) => ({
          ...step,
          url: mask.url(step.url),
          body: step.body === "" ? "" : mask.body(Buffer.from(step.body)),
        }));
        return { signed_in: isSignedIn, steps: masked };
      });
    },
  };
}

/** Reads the certificate each time, since it may have been renewed. */
async function ownListener({ listen, requestTimeoutMs }: Config, origins: ListenerOrigins) {
  const certificate = listen.tls === undefined ? undefined : (await readTlsPair(listen.tls)).cert;
  return { origin: origins.public, certificate, timeLimitMs: requestTimeoutMs + MARGIN_MS };
}

async function orSandboxError<View>(
  attempt: (sandbox: Awaited<ReturnType<typeof loadSandbox>>) => Promise<View>,
): Promise<View | SandboxError> {
  const sandbox = await loadSandbox();
  const { CannotSignError, NoResponseError } = sandbox;
  try {
    return await attempt(sandbox);
  } catch (error) {
    if (error instanceof CannotSignError) return { status: 409, error: error.message };
    if (error instanceof NoResponseError) return { status: 502, error: error.message };
    throw error;
  }
}
