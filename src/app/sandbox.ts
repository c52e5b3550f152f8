import type { Sandbox, SandboxExchangeView, SandboxFlowView, Untried } from "../admin/index.ts";
import type { Config } from "../config/index.ts";
import { addressesOf, readTlsPair } from "../http/index.ts";
import type { OwnListener, Sent } from "../sandbox/index.ts";
import type { Inner } from "./assemble.ts";

/** Where the two listeners of this process can be reached from it; empty until they listen. */
export interface OwnOrigins {
  readonly public: string;
  readonly admin: string;
}

/** When somebody asks for the first time: a start needs nothing of it. */
const room = () => import("../sandbox/index.ts");

/** Longer than the listener takes to answer that it took too long. */
const MARGIN_MS = 5_000;
const CONFIGURED =
  "an authorization server is configured (OAUTH_ISSUER or OAUTH_TOKEN_URL), so that flows go there; the sandbox platform stands in " +
  "where there is none";

/** What a developer tries out; null in production. */
export function createSandbox(
  config: Config,
  { receiver, mask }: Inner,
  origins: OwnOrigins,
): Sandbox | null {
  if (config.environment === "production") return null;
  const redirectUri = config.redirect.uri;
  return {
    redirectUri,
    async samples() {
      const { samplesOf } = await room();
      const samples = await samplesOf(receiver.registry, receiver.clock.now());
      return { events: samples.map(({ eventType, ...rest }) => ({ event_type: eventType, ...rest })) };
    },
    send: ({ body, path = "/api/platform/callback", version, sign = "right" }) =>
      tried(async ({ sendEvent }) => {
        const composed = { body, sign, ...(version === undefined ? {} : { version }) };
        const listener = await ownListener(config, origins);
        return exchangeView(
          body,
          await sendEvent(composed, config.basePath + path, config.authentication, listener),
          mask,
        );
      }),
    async walk() {
      if (config.oauth !== null) return { status: 409, error: CONFIGURED };
      const { start = "" } = addressesOf(config.basePath, config.redirect.scopePath);
      const receiverAt = await ownListener(config, origins);
      return tried(async ({ walkFlow }) => {
        const { steps, isSignedIn } = await walkFlow({
          receiver: receiverAt,
          registeredOrigin: new URL(config.baseUrl).origin,
          startPath: start,
          redirectUri,
          platformOrigin: origins.admin,
        });
        const view: SandboxFlowView = {
          signed_in: isSignedIn,
          steps: steps.map(({ url, body, tookMs, ...step }) => ({
            ...step,
            url: mask.url(url),
            body: body === "" ? "" : mask.body(Buffer.from(body)),
            took_ms: tookMs,
          })),
        };
        return view;
      });
    },
  };
}

/** The certificate is read anew, since it may have been renewed. */
async function ownListener({ listen, requestTimeoutMs }: Config, origins: OwnOrigins): Promise<OwnListener> {
  const certificate = listen.tls === undefined ? undefined : (await readTlsPair(listen.tls)).cert;
  return { origin: origins.public, certificate, timeLimitMs: requestTimeoutMs + MARGIN_MS };
}

function exchangeView(
  body: string,
  { url, requestHeaders, status, headers, body: answer, tookMs }: Sent,
  mask: Inner["mask"],
): SandboxExchangeView {
  return {
    request: { method: "POST", url, headers: mask.headers(requestHeaders), body },
    response: { status, headers: mask.headers(headers), body: answer },
    took_ms: tookMs,
  };
}

async function tried<View>(
  attempt: (sandbox: Awaited<ReturnType<typeof room>>) => Promise<View>,
): Promise<View | Untried> {
  const sandbox = await room();
  const { NotSignable, Unanswered } = sandbox;
  try {
    return await attempt(sandbox);
  } catch (error) {
    if (error instanceof NotSignable) return { status: 409, error: error.message };
    if (error instanceof Unanswered) return { status: 502, error: error.message };
    throw error;
  }
}
