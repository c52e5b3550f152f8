import { PLATFORM } from "../domain/index.ts";
import type { ConnectionSettings, DatabaseSettings } from "../store/index.ts";
import { adminOf } from "./admin.ts";
import { authenticationOf, isPlatformServed } from "./authentication.ts";
import { type ConfigFile, fileProblems, readableParts } from "./config-file.ts";
import { configuredInCode, configuredValues, type ValueOrigins } from "./configured-values.ts";
import { databaseOf } from "./database.ts";
import { passwordsOf, poolSettingsOf } from "./database-settings.ts";
import { checkExposure } from "./exposure.ts";
import { handlingOf } from "./handling.ts";
import { alertsOf, notificationsOf } from "./notifications.ts";
import { oauthOf, redirectOf } from "./oauth.ts";
import { ConfigError, type Environment, readVariables } from "./read-variables.ts";
import { checkDistinct, secretTexts } from "./secrets.ts";
import { serverOf } from "./server.ts";
import { checkSignedAddresses, sourcesOf } from "./sources.ts";
import { tracingOf } from "./tracing.ts";
import { type ConfigReading, EMBEDDED_VARIABLES, serversOwn, VARIABLES } from "./variables.ts";

type DeepReadonly<Value> = Value extends Uint8Array | ConnectionSettings
  ? Value
  : { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> };

/** The whole configuration, validated and frozen. */
export type Config = DeepReadonly<ReturnType<typeof readConfig>>;
export type JwtConfig = NonNullable<Config["authentication"]["jwt"]>;

export interface ConfigUse extends ValueOrigins {
  /** False for a command that opens no listener: it needs nothing that only a listener needs. */
  readonly listens?: boolean;
  /** True for a receiver in an application. It has no listener, and serves the built-in protocol only where that is asked for. */
  readonly isEmbedded?: boolean;
  /** In the place of DATABASE_URL: an address, or the settings of an application's pool. */
  readonly database?: string | DatabaseSettings | undefined;
}

/**
 * The configuration in these variables. `ENCRYPTION_KEY`, `ADMIN_TOKEN` and, for the built-in protocol,
 * `SIGNING_SECRET` must be among them; `loadEnvironment` generates them outside production.
 * @param file with handlers of its own, the built-in ones are off where HANDLERS does not name them
 * @throws ConfigError with every problem at once
 */
export function loadConfig(env: Environment, file: ConfigFile = {}, use: ConfigUse = {}): Config {
  const connection = use.database === undefined ? undefined : poolSettingsOf(use.database);
  if (typeof connection !== "string") return deepFreeze(readConfig(env, file, use, connection));
  return deepFreeze(readConfig({ ...env, DATABASE_URL: connection }, file, use));
}

function readConfig(
  env: Environment,
  given: ConfigFile,
  { isEmbedded = false, listens = !isEmbedded, ...origins }: ConfigUse,
  connection?: ConnectionSettings,
) {
  const reading = readVariables(isEmbedded ? EMBEDDED_VARIABLES : VARIABLES, env);
  const { values, problems, isSet } = reading;
  const faults = fileProblems(given);
  const file = faults.length === 0 ? given : readableParts(given);
  problems.texts.push(...faults);
  if (isEmbedded) for (const name of serversOwn(env)) problems.add([name], OF_THE_SERVER);
  const server = serverOf(reading, listens);
  const headers = (["CALLBACK_TOKEN_HEADER", "JWT_HEADER"] as const).filter((name) => isSet(name));
  const beside = besideAuthentication(reading, file);
  const servesPlatform = isPlatformServed(reading, beside, isEmbedded);
  const handling = handlingOf(
    reading,
    servesPlatform && !isEmbedded && (file.handlers ?? []).length === 0,
    server.requestTimeoutMs,
    headers.map((name) => values[name]),
  );
  checkDistinct(values, problems);
  if (listens || isEmbedded) checkUserAuthorized(reading, handling.builtInHandlers, isEmbedded);
  const sources = sourcesOf(reading, env, file.sources);
  if (isEmbedded) {
    checkSignedAddresses(sources, reading);
    checkRedirect(reading);
  }
  const warnings = checkExposure(reading, env, sources);
  const host = URL.parse(values.CALLBACK_BASE_URL ?? "")?.hostname ?? "localhost";
  const notifications = notificationsOf(reading, host);
  const parts = {
    ...server,
    ...handling,
    database: databaseOf(reading, env, { given: connection, isEmbedded: isEmbedded || connection !== undefined }),
    /** Whether the built-in protocol is served: production without its secret may have only other sources. */
    servesPlatform,
    authentication: authenticationOf(reading, beside, servesPlatform),
    /** Beside the built-in protocol. */
    sources,
    /** Null: the sandbox platform. */
    oauth: oauthOf(reading),
    redirect: redirectOf(reading, server.baseUrl),
    notifications,
    alerts: alertsOf(reading, notifications),
  };
  const admin = adminOf(reading, server.listen);
  const withSecrets = [...sources.named.map(({ definition }) => definition), ...sources.presets];
  if (problems.texts.length > 0) throw new ConfigError(problems.texts);
  return {
    ...parts,
    // An application decides itself who is an operator.
    admin: { ...admin, token: isEmbedded ? null : required("ADMIN_TOKEN", values.ADMIN_TOKEN) },
    encryptionKey: required("ENCRYPTION_KEY", values.ENCRYPTION_KEY),
    previousEncryptionKeys: values.ENCRYPTION_KEY_PREVIOUS,
    tracing: isEmbedded ? null : tracingOf(env),
    /** The text of every secret, so that logs can mask it anywhere. */
    secretValues: [
      ...secretTexts(env, values),
      ...passwordsOf(connection),
      ...withSecrets.flatMap(({ secrets }) => secrets),
    ],
    /** Settings that production would refuse, or keeps for a rotation. The start and `doctor` report them. */
    warnings,
    /** For operators: where each value comes from, without any secret. */
    values: [...configuredValues(env, values.SOURCES, { isEmbedded, ...origins }), ...configuredInCode(file)],
  };
}

/** The handler of sign-ins serves redirects, which their state authenticates. */
const SIGN_IN = "user_authorized";

const OF_THE_SERVER =
  "is of the oncehook server; in an application the listener, its limits, tracing and the access to the page are its own, " +
  "and its sources are those of createReceiver({ sources })";

function besideAuthentication({ values }: ConfigReading, { handlers = [], sources = {} }: ConfigFile) {
  const builtIn = handlers.filter(({ source = PLATFORM }) => source === PLATFORM).map(({ type }) => type);
  const types = [...builtIn, ...(values.HANDLERS ?? [])].filter((type) => type !== SIGN_IN);
  const sourceCount = values.SOURCES.length + Object.keys(sources).length;
  return { sourceCount, handledTypes: [...new Set(types)] };
}

/** The sandbox, which stands in for the server outside production, is on the admin listener. */
function checkUserAuthorized(reading: ConfigReading, handlers: readonly string[], isEmbedded: boolean): void {
  const { values, isProduction, problems } = reading;
  const isServerSet = values.OAUTH_ISSUER !== undefined || values.OAUTH_TOKEN_URL !== undefined;
  if (!(isProduction || isEmbedded) || isServerSet || !handlers.includes(SIGN_IN)) return;
  const others = handlers.filter((type) => type !== SIGN_IN).join(",");
  problems.add(
    ["OAUTH_ISSUER", "OAUTH_TOKEN_URL"],
    "neither is set, but the handler user_authorized is on; set one of them, " +
      `OAUTH_CLIENT_ID and OAUTH_CLIENT_SECRET, or switch it off with HANDLERS=${others || "none"}`,
    ["HANDLERS"],
  );
}

/** Without a listener there is no other address to which a browser could come back. */
function checkRedirect({ values, problems }: ConfigReading): void {
  const { OAUTH_ISSUER: issuer, OAUTH_TOKEN_URL: tokenUrl, OAUTH_REDIRECT_URI: redirect, CALLBACK_BASE_URL } = values;
  if ((issuer ?? tokenUrl) === undefined || (redirect ?? CALLBACK_BASE_URL) !== undefined) return;
  problems.add(
    ["OAUTH_REDIRECT_URI"],
    "is not set, and neither is CALLBACK_BASE_URL, which it follows: set the https address of the application",
    ["CALLBACK_BASE_URL"],
  );
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
