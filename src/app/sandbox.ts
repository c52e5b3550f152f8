import type { Sandbox, SandboxError, SandboxResultView } from "../admin/index.ts";
import { sourceUrl } from "../configured/index.ts";
import { BUILT_IN_PROTOCOL, endpointPaths } from "../domain/index.ts";
import { readTlsPair } from "../http/index.ts";
import { SampleError, signedAs, signSample } from "../sources/index.ts";
import type { Assembled } from "./assemble.ts";
import type { Services } from "./services.ts";

/** Loaded on first use, to keep the start fast. */
const loadSandbox = () => import("../dev/sandbox/index.ts");

type SentCallback = Awaited<ReturnType<Awaited<ReturnType<typeof loadSandbox>>["sendEvent"]>>;

const NO_SOURCE: SandboxError = { status: 404, error: `there is no source of this name beside ${BUILT_IN_PROTOCOL}` };

/** Longer than the listener takes to answer that it took too long. */
const MARGIN_MS = 5_000;
const CONFIGURED =
  "an authorization server is configured (OAUTH_ISSUER or OAUTH_TOKEN_URL), so that flows go there; the sandbox platform stands in " +
  "where there is none";

export function createSandbox(assembled: Assembled): Sandbox | null {
  const { config, services, origins } = assembled;
  if (config.environment === "production") return null;
  const { receiver, mask } = services;
  const redirectUri = config.redirect.uri;
  return {
    redirectUri,
    async samples() {
      const { samplesOf } = await loadSandbox();
      const events = await samplesOf(receiver.registry, receiver.clock.now());
      return { events, sources: sourceTypes(services) };
    },
    ...sourceCallbacks(assembled),
    send: ({ body, path = "/api/platform/callback", version, sign = "right" }) =>
      orSandboxError(async ({ sendEvent }) => {
        const composed = { body, sign, ...(version === undefined ? {} : { version }) };
        const listener = await publicAddress(assembled);
        const sent = await sendEvent(composed, config.basePath + path, config.authentication, listener);
        return resultView(sent, body, mask);
      }),
    async runOAuthFlow() {
      if (config.oauth !== null) return { status: 409, error: CONFIGURED };
      const { start = "" } = endpointPaths(config.basePath, config.redirect.scopePath);
      const receiverAt = await publicAddress(assembled);
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

/** The types that have a handler of their own; a pattern is none. */
function sourceTypes({ configured, receiver }: Services) {
  const { handlers } = receiver.registry;
  return configured.map(({ name, definition }) => {
    const types = handlers.filter(({ source, type }) => source === name && !type.endsWith("*"));
    return {
      source: name,
      title: definition.facts.title,
      types: [...new Set(types.map(({ type }) => type))].toSorted(),
    };
  });
}

function sourceCallbacks(assembled: Assembled): Pick<Sandbox, "sourceSample" | "sendAs"> {
  const { config, services, origins } = assembled;
  const { configured, receiver, mask } = services;
  function find(name: string, type: string) {
    const source = configured.find((one) => one.name === name);
    if (source === undefined) return undefined;
    const url = new URL(sourceUrl(source, config.isBaseUrlGiven ? config.baseUrl : origins.public));
    const callback = { source: name, type, now: receiver.clock.now(), url, origin: url.origin };
    return { definition: source.definition, callback };
  }
  return {
    async sourceSample(name, type) {
      const found = find(name, type);
      if (found === undefined) return NO_SOURCE;
      const signed = () => signSample(signedAs(found.definition, "none"), found.callback);
      return orSandboxError(async () => ({ body: Buffer.from(signed().body).toString() }));
    },
    async sendAs(name, { type, body, sign = "right" }) {
      const found = find(name, type);
      if (found === undefined) return NO_SOURCE;
      return orSandboxError(async ({ sendSigned }) => {
        const raw = Buffer.from(body);
        const signed = signSample(signedAs(found.definition, sign), { ...found.callback, raw });
        const path = found.callback.url.pathname;
        const sending = { path, headers: signed.headers, body: Buffer.from(signed.body).toString() };
        return resultView(await sendSigned(sending, await publicAddress(assembled)), body, mask);
      });
    },
  };
}

function resultView(sent: SentCallback, body: string, mask: Services["mask"]): SandboxResultView {
  return {
    request: { method: "POST", url: sent.url, headers: mask.headers(sent.requestHeaders), body },
    response: { status: sent.status, headers: mask.headers(sent.headers), body: sent.body },
    duration_ms: sent.durationMs,
  };
}

/** Reads the certificate each time, since it may have been renewed. */
async function publicAddress({ config: { listen, requestTimeoutMs }, origins }: Assembled) {
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
    if (error instanceof CannotSignError || error instanceof SampleError) return { status: 409, error: error.message };
    if (error instanceof NoResponseError) return { status: 502, error: error.message };
    throw error;
  }
}
