import type { EndpointCheckView, Sources, SourcesView } from "../admin/index.ts";
import type { AuthMethod, Config } from "../config/index.ts";
import type { CallbackLogReader, EndpointCheck } from "../dev/endpoint-check/index.ts";
import { PLATFORM, VERSIONS } from "../domain/index.ts";
import { endpointPaths } from "../http/index.ts";
import type { StoredCredentialUse } from "../store/index.ts";
import { type ConfiguredSecret, secretName } from "./credential-uses.ts";
import { addressesOf, addressViews, describeSource, recentCounts } from "./describe-source.ts";
import { rotationAdvice } from "./doctor/check-secrets.ts";
import {
  describeMethods,
  type RegisteredAddress,
  registeredAddresses,
  SIGNED_IN,
  startsFlows,
} from "./platform.ts";
import type { ListenerOrigins } from "./sandbox.ts";
import type { Services } from "./services.ts";

type SourceView = SourcesView["items"][number];

const OAUTH = "oauth";

export function createSources(
  config: Config,
  services: Services,
  secrets: readonly ConfiguredSecret[],
  origins: ListenerOrigins,
): Sources {
  const { receiver, source, callbackLog, endpointCheckProofs, configured, rollups } = services;
  const { store, clock, registry } = receiver;
  const { redirect } = config;
  /** Without CALLBACK_BASE_URL it is the listener's own, whose port may be any free one. */
  const baseUrl = () => (config.isBaseUrlGiven ? config.baseUrl : origins.public);
  const addresses = () => registeredAddresses(config, baseUrl());
  const log: CallbackLogReader = { flush: () => callbackLog.flush(), rows: store.callbacks };
  const handlesSignIns = registry.find(PLATFORM, "v1", SIGNED_IN) !== undefined;
  const { start } = endpointPaths("", redirect.scopePath, { startsFlows: startsFlows(config) });

  function addressesOfSource(name: string): readonly string[] | undefined {
    if (name === source.name) return addresses().map(({ url }) => url);
    if (name === OAUTH && handlesSignIns) return [redirect.uri];
    const known = configured.find((one) => one.name === name);
    return known === undefined ? undefined : addressesOf(known, config, baseUrl()).map(({ url }) => url);
  }

  let isChecking = false;
  return {
    secretUses: () => store.credentialUses.list(secrets),
    async list() {
      const uses = await store.credentialUses.list(secrets);
      // What this process has answered is in it.
      await rollups.flush();
      const counts = await recentCounts(store, clock.now());
      const described = (name: string, [first]: readonly RegisteredAddress[]) =>
        describeSource(services, name, first?.url ?? "", counts.get(name) ?? []);
      const platform: SourceView = {
        source: source.name,
        ...described(source.name, addresses()),
        addresses: addressViews(registry, source.name, addresses()),
        authenticated_by: describeMethods(config),
        authentication: authenticationOf(config, secrets, uses, clock.now()),
      };
      const others = configured.map((one): SourceView => {
        const { name, definition } = one;
        const own = addressesOf(one, config, baseUrl());
        return {
          source: name,
          ...described(name, own),
          addresses: addressViews(registry, name, own),
          authenticated_by: definition.credential ?? definition.facts.title,
          authentication: [],
        };
      });
      const startUrl = start === undefined ? null : `${baseUrl()}${start}`;
      return {
        items: [platform, ...others],
        oauth: handlesSignIns ? { redirect_uri: redirect.uri, start_url: startUrl } : null,
        handlers: registry.handlers.map((handler) => ({
          source: handler.source,
          event_type: handler.type,
          versions: VERSIONS.filter(
            (version) => registry.find(handler.source, version, handler.type) === handler,
          ),
          has_prepare: handler.prepare !== undefined,
          time_limit_ms: config.handlerTimeoutMs,
        })),
      };
    },
    async check(name) {
      const urls = addressesOfSource(name);
      if (urls === undefined) return "absent";
      if (isChecking) return "busy";
      isChecking = true;
      try {
        // Loaded on first use, to keep the start fast.
        const { checkEndpoint } = await import("../dev/endpoint-check/index.ts");
        const checks = urls.map((url) => checkEndpoint(url, log, endpointCheckProofs.issue()));
        return endpointCheckView(await Promise.all(checks));
      } finally {
        isChecking = false;
      }
    },
  };
}

function authenticationOf(
  config: Config,
  secrets: readonly ConfiguredSecret[],
  uses: readonly StoredCredentialUse[],
  now: Date,
): SourceView["authentication"] {
  const { methods, token, jwt } = config.authentication;
  const headers: Record<AuthMethod, string> = {
    hmac: "X-Signature",
    token: token.header,
    jwt: jwt?.header ?? "",
  };
  const noteOf = (secret: ConfiguredSecret | undefined) =>
    uses.find((use) => use.method === secret?.method && use.fingerprint === secret.fingerprint);
  return [...new Set(methods.flat())].map((method) => {
    const own = secrets.filter((secret) => secret.method === method);
    return {
      method,
      header: headers[method],
      secrets: own.map((secret) => ({
        name: secretName(secret, config),
        is_previous: secret.isPrevious,
        last_used_at: noteOf(secret)?.lastUsedAt ?? null,
        advice: secret.isPrevious ? rotationAdvice(noteOf(secret), noteOf(own[0]), now).message : null,
      })),
    };
  });
}

function endpointCheckView(addresses: EndpointCheck[]): EndpointCheckView {
  const shown = addresses.find(({ reached }) => !reached) ?? addresses[0];
  if (shown === undefined) throw new TypeError("a source has at least one address");
  return { ...shown, addresses };
}
