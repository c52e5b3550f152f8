import type { EndpointCheckView, Sources } from "../admin/index.ts";
import type { Config } from "../config/index.ts";
import type { CallbackLogReader, EndpointCheck } from "../dev/endpoint-check/index.ts";
import { keySourceOf, PLATFORM, VERSIONS } from "../domain/index.ts";
import { endpointPaths } from "../http/index.ts";
import type { ConfiguredSecret } from "./credential-uses.ts";
import {
  describeMethods,
  type RegisteredAddress,
  registeredAddresses,
  SIGNED_IN,
  startsFlows,
} from "./platform.ts";
import type { ListenerOrigins } from "./sandbox.ts";
import type { Services } from "./services.ts";
import {
  authenticationOf,
  type NotedUses,
  type SourceView,
  sourceAddresses,
  sourceView,
} from "./source-views.ts";

const OAUTH = "oauth";

export function createSources(
  config: Config,
  { receiver, source, configured, learntSecrets, callbackLog, endpointCheckProofs }: Services,
  secretsNow: () => readonly ConfiguredSecret[],
  origins: ListenerOrigins,
): Sources {
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
    const other = configured.find((one) => one.name === name);
    if (other !== undefined)
      return sourceAddresses(other, baseUrl(), redirect.scopePath).map(({ url }) => url);
    return name === OAUTH && handlesSignIns ? [redirect.uri] : undefined;
  }

  function typesOf(version: RegisteredAddress["version"]): string[] {
    const versions = version === "by_header" ? VERSIONS : [version];
    return registry.types.filter((type) =>
      versions.some((one) => registry.keySources(PLATFORM, one, type).length > 0),
    );
  }

  const otherSources = (noted: NotedUses): SourceView[] =>
    configured.map((one) => {
      const handlers = registry.handlers.filter((handler) => handler.source === one.name);
      const addresses = sourceAddresses(one, baseUrl(), redirect.scopePath);
      return sourceView(one, { addresses, types: handlers.map(({ type }) => type) }, noted);
    });

  return {
    secretUses: () => store.credentialUses.list(secretsNow()),
    async list() {
      const secrets = secretsNow();
      const uses = await store.credentialUses.list(secrets);
      const now = clock.now();
      const platform: SourceView = {
        source: source.name,
        addresses: addresses().map(({ url, version }) => {
          return { url, version, method: "POST", event_types: typesOf(version) };
        }),
        authenticated_by: describeMethods(config),
        authentication: authenticationOf(config, { secrets, uses, now }),
      };
      const startUrl = start === undefined ? null : `${baseUrl()}${start}`;
      return {
        items: [platform, ...otherSources({ secrets, uses, now })],
        oauth: handlesSignIns ? { redirect_uri: redirect.uri, start_url: startUrl } : null,
        handlers: registry.handlers.map((handler) => ({
          event_type: handler.type,
          versions: VERSIONS.filter(
            (version) => registry.find(keySourceOf(handler), version, handler.type) === handler,
          ),
          has_prepare: handler.prepare !== undefined,
          time_limit_ms: config.handlerTimeoutMs,
        })),
      };
    },
    async relearn(name, forgets) {
      const found = configured.find((one) => one.name === name);
      if (found === undefined) return name === PLATFORM ? "fixed" : "absent";
      if (!found.definition.learns || learntSecrets === undefined) return "fixed";
      const until = await learntSecrets.relearn(name, forgets);
      return { until: until.toISOString() };
    },
    check: createChecks(addressesOfSource, { log, proofs: endpointCheckProofs }),
  };
}

/** One check at a time. @param addressesOf undefined for a source that is none */
function createChecks(
  addressesOf: (source: string) => readonly string[] | undefined,
  { log, proofs }: { readonly log: CallbackLogReader; readonly proofs: Services["endpointCheckProofs"] },
): Sources["check"] {
  let isChecking = false;
  return async (name) => {
    const urls = addressesOf(name);
    if (urls === undefined) return "absent";
    if (isChecking) return "busy";
    isChecking = true;
    try {
      // Loaded on first use, to keep the start fast.
      const { checkEndpoint } = await import("../dev/endpoint-check/index.ts");
      const checks = urls.map((url) => checkEndpoint(url, log, proofs.issue()));
      return endpointCheckView(await Promise.all(checks));
    } finally {
      isChecking = false;
    }
  };
}

function endpointCheckView(addresses: EndpointCheck[]): EndpointCheckView {
  const shown = addresses.find(({ reached }) => !reached) ?? addresses[0];
  if (shown === undefined) throw new TypeError("a source has at least one address");
  return { ...shown, addresses };
}
