import type { SourcesView, SourceView } from "../admin/index.ts";
import type { AuthMethod, Config } from "../config/index.ts";
import { type ConfiguredSource, describeMethods, type RegisteredAddress, rateOf } from "../configured/index.ts";
import { type ConfiguredSecret, rotationAdvice, storedUse } from "../credentials/index.ts";
import {
  countByOutcome,
  eventResponses,
  keySourceOf,
  lastCallback,
  latencyQuantile,
  OVERVIEW_RANGES,
  periodStart,
  VERSIONS,
} from "../domain/index.ts";
import type { Registry } from "../handlers/index.ts";
import type { AnswerMode } from "../pipeline/index.ts";
import { IDENTITY_TEXTS, type SourceDefinition } from "../sources/index.ts";
import type { RollupSlot, Store, StoredCredentialUse } from "../store/index.ts";
import type { Services } from "./services.ts";
import { platformSetupSteps, setupSteps } from "./setup-steps.ts";

/** The facts of any source, for the API, the page and the command. */
export function describeSource(
  { receiver, configured, config }: Pick<Services, "receiver" | "configured"> & { readonly config: Config },
  name: string,
  addresses: readonly RegisteredAddress[],
  rows: readonly RollupSlot[],
) {
  const source = receiver.sourcesByName.get(name);
  const described = configured.find((one) => one.name === name);
  const definition = described?.definition;
  const url = addresses[0]?.url ?? "";
  const types = typesOf(receiver.registry, name);
  const rate = described === undefined ? config.limits.callback : rateOf(described, config.limits);
  return {
    source: name,
    about: definition === undefined ? null : aboutOf(definition, url),
    setup:
      described === undefined
        ? platformSetupSteps(url, describeMethods(config))
        : setupSteps(described, { url, types }, config),
    event_types: types,
    unhandled: source?.contract.unhandled ?? "refuse",
    answer: answerOf(source?.answer ?? "inline"),
    rate: rate && { callbacks: rate.points, seconds: rate.windowSeconds },
    activity: activityOf(rows),
    addresses: addressViews(receiver.registry, name, addresses),
  };
}

function aboutOf(definition: SourceDefinition, url: string): SourceView["about"] {
  const { preset, facts, credential, identity, listsEvents = false } = definition;
  const { title, docs, proof = "documented", deadlineSeconds, retryHours, disables } = facts;
  const proven = credential === undefined ? "" : ` ${title} proves each callback by ${credential}.`;
  return {
    preset,
    title,
    docs,
    proof,
    instruction: `Register ${url} with ${title}, exactly as it is.${proven}`,
    identity: IDENTITY_TEXTS[identity],
    deadline_seconds: deadlineSeconds ?? null,
    retry_hours: retryHours ?? null,
    disables: disables ?? null,
    lists_events: listsEvents,
  };
}

export function typesOf({ handlers }: Registry, name: string): string[] {
  return [...new Set(handlers.filter(({ source }) => source === name).map(({ type }) => type))];
}

function answerOf(answer: AnswerMode): SourceView["answer"] {
  return typeof answer === "string"
    ? { mode: answer, within_ms: null }
    : { mode: "within", within_ms: answer.withinMs };
}

function activityOf(rows: readonly RollupSlot[]): SourceView["activity"] {
  const responses = eventResponses(rows);
  const last = lastCallback(responses, "day");
  return {
    last_callback_at: last?.at ?? null,
    last_callback_within_seconds: last?.withinSeconds ?? null,
    outcomes: countByOutcome(rows),
    p99_ms: latencyQuantile(responses, 0.99),
  };
}

/** The counts of the last 24 hours by source. */
export async function recentCounts({ rollups }: Pick<Store, "rollups">, now: Date) {
  const { stepSeconds, steps } = OVERVIEW_RANGES.day;
  const rows = await rollups.list("day", periodStart(now, stepSeconds) - (steps - 1) * stepSeconds);
  return Map.groupBy(rows, ({ source }) => source);
}

/** With the types that have a handler at each. */
function addressViews(registry: Registry, name: string, addresses: readonly RegisteredAddress[]) {
  const types = typesOf(registry, name);
  return addresses.map(({ url, version }) => {
    const versions = version === "by_header" ? VERSIONS : [version];
    const handled = types.filter((type) => versions.some((one) => registry.keySources(name, one, type).length > 0));
    return { url, version, method: "POST" as const, event_types: handled };
  });
}

/** The handlers by type, in the order of the configuration. */
export function handlerViews(registry: Registry, timeLimitMs: number): SourcesView["handlers"] {
  return registry.handlers.map((handler) => ({
    source: handler.source,
    event_type: handler.type,
    name: handler.name ?? null,
    versions: VERSIONS.filter((version) => registry.find(keySourceOf(handler), version, handler.type) === handler),
    has_prepare: handler.prepare !== undefined,
    time_limit_ms: timeLimitMs,
  }));
}

interface NotedUses {
  readonly secrets: readonly ConfiguredSecret[];
  readonly uses: readonly StoredCredentialUse[];
  readonly now: Date;
}

export function authenticationOf(config: Config, noted: NotedUses): SourceView["authentication"] {
  const { methods, token, jwt } = config.authentication;
  const headers: Record<AuthMethod, string> = { hmac: "X-Signature", token: token.header, jwt: jwt?.header ?? "" };
  return [...new Set(methods.flat())].map((method) => {
    const secrets = noted.secrets.filter((secret) => secret.method === method);
    return { method, header: headers[method], secrets: secretViews(secrets, noted) };
  });
}

/** @param secrets of one method of one source, the current one first */
function secretViews(secrets: readonly ConfiguredSecret[], { uses, now }: NotedUses) {
  return secrets.map((secret) => {
    const advice = secret.isPrevious ? rotationAdvice(secret, secrets[0], uses, now) : undefined;
    return {
      name: secret.name,
      is_previous: secret.isPrevious,
      last_used_at: storedUse(secret, uses)?.lastUsedAt ?? null,
      can_retire: advice?.canRetire ?? false,
      unused_since: advice?.unusedSince ?? null,
      advice: advice?.message ?? null,
    };
  });
}

/** The secrets of a source beside the built-in protocol. */
export function sourceAuthentication({ name, definition }: ConfiguredSource, noted: NotedUses) {
  const secrets = noted.secrets.filter(({ source }) => source === name);
  const header = [definition.hmac?.signature.header ?? []].flat().join(", ");
  return [{ method: "secret" as const, header, secrets: secretViews(secrets, noted) }];
}
