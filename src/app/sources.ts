import type { Sources, SourceView } from "../admin/index.ts";
import { type Config, startsFlows } from "../config/index.ts";
import {
  addressesOf,
  describeMethods,
  type RegisteredAddress,
  registeredAddresses,
  SIGNED_IN,
} from "../configured/index.ts";
import { sampleTypeOf } from "../doctor/index.ts";
import { callOnce, endpointPaths, PLATFORM } from "../domain/index.ts";
import type { Assembled } from "./assemble.ts";
import {
  authenticationOf,
  describeSource,
  handlerViews,
  recentCounts,
  sourceAuthentication,
  typesOf,
} from "./describe-source.ts";
import type { Services } from "./services.ts";
import { sourceDetails } from "./source-details.ts";
import { sourceHealth } from "./source-health.ts";
import { sourceHistory } from "./source-history.ts";

const OAUTH = "oauth";

export function createSources({ config, services, secrets: secretsNow, origins }: Assembled): Sources {
  const { receiver, source, configured, learntSecrets, rollups } = services;
  const { store, clock, registry } = receiver;
  const { redirect } = config;
  /** Without CALLBACK_BASE_URL it is the listener's own, whose port may be any free one. */
  const baseUrl = () => (config.isBaseUrlGiven ? config.baseUrl : origins.public);
  const addresses = () => registeredAddresses(config, baseUrl());
  const handlesSignIns = registry.find(PLATFORM, "v1", SIGNED_IN) !== undefined;
  const { start } = endpointPaths("", redirect.scopePath, { startsFlows: startsFlows(config) });

  function addressesOfSource(name: string): readonly string[] | undefined {
    if (name === source.name && config.servesPlatform) return addresses().map(({ url }) => url);
    if (name === OAUTH && handlesSignIns) return [redirect.uri];
    const known = configured.find((one) => one.name === name);
    return known === undefined ? undefined : addressesOf(known, config, baseUrl()).map(({ url }) => url);
  }

  const sampleTypes = new Map(
    configured.map((one) => [one, callOnce(() => sampleTypeOf(one, typesOf(registry, one.name)))]),
  );

  return {
    secretUses: () => store.credentialUses.list(secretsNow()),
    async list() {
      const secrets = secretsNow();
      const uses = await store.credentialUses.list(secrets);
      const now = clock.now();
      // The counts include the responses of this process up to now.
      await rollups.flush();
      const counts = await recentCounts(store, now);
      const described = (name: string, own: readonly RegisteredAddress[]) =>
        describeSource({ receiver, configured, config }, name, own, counts.get(name) ?? []);
      const ofPlatform = described(source.name, addresses());
      const platform: SourceView = {
        ...ofPlatform,
        // `send` makes its data from the schema of the handler.
        sample_type: ofPlatform.event_types.find((type) => !type.includes("*")) ?? null,
        authenticated_by: describeMethods(config),
        authentication: authenticationOf(config, { secrets, uses, now }),
        has_tenant_secrets: false,
        offered_secrets: [],
      };
      const others = configured.map(async (one): Promise<SourceView> => {
        const { name, definition } = one;
        return {
          ...described(name, addressesOf(one, config, baseUrl())),
          sample_type: (await sampleTypes.get(one)?.()) ?? null,
          authenticated_by: definition.credential ?? definition.facts.title,
          authentication: sourceAuthentication(one, { secrets, uses, now }),
          has_tenant_secrets: definition.hasTenantSecrets ?? false,
          offered_secrets: definition.learns ? ((await learntSecrets?.offered(name)) ?? []) : [],
        };
      });
      const startUrl = start === undefined ? null : `${baseUrl()}${start}`;
      return {
        items: [...(config.servesPlatform ? [platform] : []), ...(await Promise.all(others))],
        oauth: handlesSignIns ? { redirect_uri: redirect.uri, start_url: startUrl } : null,
        handlers: handlerViews(registry, config.handlerTimeoutMs),
      };
    },
    ...createSourceReadings(config, services),
    async tenants(name, tenant, page) {
      const known = configured.find((one) => one.name === name);
      if (known?.definition.hasTenantSecrets !== true) return "absent";
      return store.tenantSecretUses.list({ source: name, tenant }, page);
    },
    async relearn(name, request) {
      const found = configured.find((one) => one.name === name);
      if (found === undefined) return name === PLATFORM && config.servesPlatform ? "fixed" : "absent";
      return (found.definition.learns && learntSecrets?.relearn(name, request)) || "fixed";
    },
    // Only an application has a framework before the receiver.
    check: createChecks(services, addressesOfSource, { sendsForm: config.admin.token === null }),
  };
}

/** How each source fares, and one source's history and details. */
function createSourceReadings(
  { servesPlatform }: Pick<Config, "servesPlatform">,
  { receiver, source: platform, configured, rollups }: Services,
): Pick<Sources, "health" | "history" | "details"> {
  const { store, clock } = receiver;
  const others = configured.map(({ name, definition: { facts } }) => {
    return { source: name, title: facts.title, deadlineSeconds: facts.deadlineSeconds };
  });
  const ofPlatform = { source: platform.name, title: undefined, deadlineSeconds: undefined };
  const facts = [...(servesPlatform ? [ofPlatform] : []), ...others];
  const factsOf = (name: string) => facts.find(({ source }) => source === name);
  return {
    async health() {
      await rollups.flush();
      return sourceHealth(store, facts, clock.now());
    },
    async history(name, span) {
      const known = factsOf(name);
      if (known === undefined) return "absent";
      await rollups.flush();
      return sourceHistory(store, known, span, clock.now());
    },
    async details(name) {
      if (factsOf(name) === undefined) return "absent";
      const api = configured.find((one) => one.name === name)?.definition.reconcile;
      return sourceDetails(store, name, api);
    },
  };
}

/** One check at a time; each result is kept. @param addressesOf undefined where no source has that name */
function createChecks(
  { receiver, callbackLog, endpointCheckProofs }: Services,
  addressesOf: (source: string) => readonly string[] | undefined,
  { sendsForm }: { readonly sendsForm: boolean },
): Sources["check"] {
  const { callbacks, tenantSecretUses, endpointChecks } = receiver.store;
  const log = { flush: callbackLog.flush, rows: callbacks };
  let isChecking = false;
  return async (name) => {
    const urls = addressesOf(name);
    if (urls === undefined) return "absent";
    if (isChecking) return "busy";
    isChecking = true;
    try {
      // Loaded on first use, to keep the start fast.
      const { checkEndpoint } = await import("../dev/endpoint-check/index.ts");
      const [newest] = await tenantSecretUses.list({ source: name }, { limit: 1 });
      const checks = urls.map((url) =>
        checkEndpoint(url, log, { issueProof: endpointCheckProofs.issue, tenant: newest?.tenant, sendsForm }),
      );
      const addresses = await Promise.all(checks);
      const shown = addresses.find(({ reached }) => !reached) ?? addresses[0];
      if (shown === undefined) throw new TypeError("a source has at least one address");
      const check = { ...shown, addresses };
      await endpointChecks.note(name, JSON.stringify({ at: receiver.clock.now().toISOString(), check }));
      return check;
    } finally {
      isChecking = false;
    }
  };
}
