import { accessOf } from "./access.ts";
import { authenticationOf } from "./authentication.ts";
import { checkExposure } from "./check-exposure.ts";
import {
  checkDistinctPorts,
  checkProduction,
  checkValues,
  DEFAULT_UNVERIFIED_BYTES,
} from "./check-values.ts";
import type { Config } from "./config.ts";
import type { ConfigFile } from "./config-file.ts";
import { checkDatabaseVariables, databaseOf } from "./database.ts";
import { BUILT_IN_TYPES } from "./handling-variables.ts";
import { alertsOf, notificationsOf } from "./notifications.ts";
import { oauthOf } from "./oauth.ts";
import { ConfigError, createProblems } from "./problems.ts";
import { type Environment, readVariables, type Values } from "./read-variables.ts";
import { exporterSecrets, tracingOf } from "./tracing.ts";
import { percentDecoded } from "./variable.ts";
import { SECRET_NAMES } from "./variables.ts";

const LIMITS = {
  default: { points: 100, windowSeconds: 3_600 },
  callback: { points: 10, windowSeconds: 60 },
} as const;

/** What a configuration is for. */
export interface ConfigUse {
  /** False for a command that opens no listener: it needs nothing that only a listener needs. */
  readonly listens?: boolean;
}

/**
 * The configuration in these variables. `SIGNING_SECRET`, `ENCRYPTION_KEY` and `ADMIN_TOKEN` must be among them;
 * `loadEnvironment` generates them outside production.
 * @param file with handlers of its own, the built-in ones are off where HANDLERS does not name them
 * @throws ConfigError with every problem at once
 */
export function loadConfig(
  env: Environment,
  file: Pick<ConfigFile, "handlers"> = {},
  { listens = true }: ConfigUse = {},
): Config {
  const problems = createProblems();
  const values = readVariables(env, problems);
  const isOwnProject = (file.handlers ?? []).length > 0;
  const handlers = values.HANDLERS ?? (isOwnProject ? [] : [...BUILT_IN_TYPES]);
  const times = {
    requestTimeoutMs: values.REQUEST_TIMEOUT_MS ?? 30_000,
    handlerTimeoutMs: values.HANDLER_TIMEOUT_MS ?? 10_000,
  };
  const host = values.HOST ?? defaultHost(values);
  checkValues(values, host, times, problems);
  checkProduction(values, handlers, listens, problems);
  const warnings = checkExposure(values, env, problems);
  checkDatabaseVariables(values, env, problems);
  const authentication = authenticationOf(values, problems);
  const oauth = oauthOf(values, problems);
  const notifications = notificationsOf(values, values.CALLBACK_BASE_URL, problems);
  const listen = listenOf(values, host);
  const admin = { host: values.ADMIN_HOST ?? "127.0.0.1", port: values.ADMIN_PORT ?? 8081 };
  checkDistinctPorts(listen, admin, problems);
  const access = accessOf(values, problems);
  if (problems.texts.length > 0) throw new ConfigError(problems.texts);
  const baseUrl = (values.CALLBACK_BASE_URL ?? originOf(listen)).replace(/\/+$/, "");
  return deepFreeze({
    environment: values.APP_ENV ?? "development",
    baseUrl,
    isBaseUrlGiven: values.CALLBACK_BASE_URL !== undefined,
    basePath: new URL(baseUrl).pathname.replace(/\/+$/, ""),
    listen,
    admin: { ...admin, token: required("ADMIN_TOKEN", values.ADMIN_TOKEN), ...access },
    authentication,
    notifications,
    alerts: alertsOf(values, notifications),
    database: databaseOf(values, env),
    ...rulesOf(values),
    ...times,
    encryptionKey: required("ENCRYPTION_KEY", values.ENCRYPTION_KEY),
    previousEncryptionKeys: values.ENCRYPTION_KEY_PREVIOUS ?? [],
    oauth,
    redirect: redirectOf(values, baseUrl),
    builtInHandlers: handlers,
    ipAllowList: values.IP_ALLOW_LIST ?? null,
    tracing: tracingOf(env),
    secretValues: secretsOf(env, values),
    warnings,
  });
}

function rulesOf(values: Values) {
  return {
    limits: {
      // Null is a value of its own: switched off.
      default: values.RATE_LIMIT_DEFAULT === undefined ? LIMITS.default : values.RATE_LIMIT_DEFAULT,
      callback: values.RATE_LIMIT_CALLBACK === undefined ? LIMITS.callback : values.RATE_LIMIT_CALLBACK,
      store: values.RATE_LIMIT_STORE ?? "memory",
    },
    retry: { max: values.RETRY_MAX ?? 3, delaySeconds: values.RETRY_DELAY_SECONDS ?? 60 },
    eventTypeFrom: values.EVENT_TYPE_FROM ?? "either",
    rejectTypeMismatch: values.REJECT_TYPE_MISMATCH ?? false,
    maxBodyBytes: values.MAX_BODY_BYTES ?? 1_048_576,
    maxUnverifiedBytes: values.MAX_UNVERIFIED_BYTES ?? DEFAULT_UNVERIFIED_BYTES,
    connections: {
      max: values.MAX_CONNECTIONS ?? 2_048,
      maxPerAddress: values.MAX_CONNECTIONS_PER_ADDRESS ?? 1_024,
    },
    maxWaitingCallbacks: values.MAX_WAITING_CALLBACKS ?? 1_000,
    mask: { headers: maskedHeaders(values), keys: values.MASK_KEYS ?? [] },
    logLevel: values.LOG_LEVEL ?? "info",
    captureEnabled: values.CAPTURE ?? false,
    retention: {
      logDays: values.LOG_RETENTION_DAYS ?? 30,
      recordDays: values.RECORD_RETENTION_DAYS ?? null,
      refusedBytes: values.REFUSED_LOG_BYTES ?? 67_108_864,
    },
  };
}

/** A header that carries a credential is masked whatever its name. */
function maskedHeaders({ MASK_HEADERS = [], CALLBACK_TOKEN_HEADER, JWT_HEADER }: Values): string[] {
  return [...MASK_HEADERS, CALLBACK_TOKEN_HEADER, JWT_HEADER].filter((name) => name !== undefined);
}

function defaultHost(values: Values): string {
  return values.TLS_CERT_FILE !== undefined || values.TRUST_PROXY !== undefined ? "0.0.0.0" : "127.0.0.1";
}

function listenOf(values: Values, host: string): Config["listen"] {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = values;
  const tls = certFile !== undefined && keyFile !== undefined ? { tls: { certFile, keyFile } } : {};
  return { host, port: values.PORT ?? 8080, trustProxy: values.TRUST_PROXY ?? [], ...tls };
}

function originOf({ host, port, tls }: Config["listen"]): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `${tls === undefined ? "http" : "https"}://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

function redirectOf(values: Values, baseUrl: string): Config["redirect"] {
  const scopePath = values.OAUTH_SCOPE_PATH ?? "platform";
  return {
    scopePath,
    uri: values.OAUTH_REDIRECT_URI ?? `${baseUrl}/api/${scopePath}/oauth-callback`,
    isUriGiven: values.OAUTH_REDIRECT_URI !== undefined,
    responseMode: values.OAUTH_RESPONSE_MODE ?? "query",
    successUrl: values.OAUTH_SUCCESS_URL ?? null,
  };
}

function secretsOf(env: Environment, values: Values): string[] {
  const texts = SECRET_NAMES.flatMap((name) => {
    const value = values[name];
    if (typeof value === "string") return [value];
    // A key is kept as bytes; what could leak is its text, and that of each in a list.
    return [env[name], ...(Array.isArray(value) ? (env[name]?.split(",") ?? []) : [])].map((one) =>
      one?.trim(),
    );
  });
  const passwords = [values.DATABASE_URL, values.SMTP_URL].map((url) => URL.parse(url ?? "")?.password);
  const decoded = passwords.map((one) => percentDecoded(one ?? ""));
  const others = [...secretParts(values.NOTIFY_WEBHOOK_URL ?? ""), ...exporterSecrets(env)];
  return [...texts, ...passwords, ...decoded, ...others].filter(
    (text) => text !== undefined && text !== "",
  ) as string[];
}

/** Longer than most words, which must stay readable, and shorter than what is drawn at random to keep strangers out. */
const SHORTEST_RANDOM_PART = 16;

/** What can be the secret of a webhook's address: it may turn up without the rest of it. */
function secretParts(address: string): string[] {
  const url = URL.parse(address);
  if (url === null) return [];
  const parts = [...url.pathname.split("/"), ...url.searchParams.values()];
  return parts.filter(({ length }) => length >= SHORTEST_RANDOM_PART);
}

function required<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined) throw new ConfigError([`${name}: is not set`]);
  return value;
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
