import { ADMIN_VARIABLES } from "./admin.ts";
import { AUTHENTICATION_VARIABLES } from "./authentication.ts";
import type { ConfigFile, ConfiguredHandler } from "./config-file.ts";
import { DATABASE_VARIABLES, ENCRYPTION_VARIABLES } from "./database.ts";
import { HANDLING_VARIABLES, LOG_VARIABLES } from "./handling.ts";
import { NOTIFICATION_VARIABLES } from "./notifications.ts";
import { OAUTH_VARIABLES } from "./oauth.ts";
import type { Environment } from "./read-variables.ts";
import { LIMIT_VARIABLES, SERVER_VARIABLES } from "./server.ts";
import { SOURCE_VARIABLES, secretVariables } from "./sources.ts";
import type { Variable, VariableTable } from "./variable.ts";
import { EMBEDDED_VARIABLES, isOfTheServer, VARIABLES } from "./variables.ts";

/** `code`: the configuration file, or `createReceiver`. `generated`: made at the first start, and kept in a file. */
export type ValueOrigin = "default" | "environment" | "env_file" | "generated" | "code";

/** One variable or option, for an operator to read. */
export interface ConfiguredValue {
  /** As its author writes it. */
  readonly name: string;
  readonly group: string;
  /** Null for a secret, and for one that is not set and has no default. */
  readonly value: string | null;
  readonly isSecret: boolean;
  readonly origin: ValueOrigin;
  /** The effect of not setting it, where it is not set. */
  readonly defaultText: string | null;
}

/** How the variables came to the process. */
export interface ValueOrigins {
  /** Of those that neither the environment holds nor a default gives, by name. */
  readonly origins?: ReadonlyMap<string, ValueOrigin>;
  /** Under which name the author of the configuration set a variable. */
  readonly nameOf?: (name: string) => string;
}

interface ValueUse extends ValueOrigins {
  readonly isEmbedded: boolean;
}

/** The variables by what they are for, as docs/configuration.md has them. */
export const VARIABLE_GROUPS: readonly (readonly [group: string, table: VariableTable])[] = [
  ["Public listener", SERVER_VARIABLES],
  ["Database", DATABASE_VARIABLES],
  ["Authentication of callbacks", AUTHENTICATION_VARIABLES],
  ["Other platforms", SOURCE_VARIABLES],
  ["Encryption", ENCRYPTION_VARIABLES],
  ["Limits", LIMIT_VARIABLES],
  ["Handlers and retries", HANDLING_VARIABLES],
  ["Logs and retention", LOG_VARIABLES],
  ["OAuth", OAUTH_VARIABLES],
  ["Notifications and alerts", NOTIFICATION_VARIABLES],
  ["Admin access", ADMIN_VARIABLES],
];
const [PLATFORMS, HANDLERS] = ["Other platforms", "Handlers and retries"];
const LONGEST_VALUE = 500;

/** Every variable with its value and origin, and those of presets and tracing that are set. */
export function configuredValues(env: Environment, presets: readonly string[], use: ValueUse): ConfiguredValue[] {
  const { isEmbedded, origins, nameOf = (name: string) => name } = use;
  const table: VariableTable = isEmbedded ? EMBEDDED_VARIABLES : VARIABLES;
  const isShown = (name: string) => !(isEmbedded && isOfTheServer(name));
  const originOf = (name: string) => origins?.get(name) ?? "environment";
  const known = VARIABLE_GROUPS.flatMap(([group, rows]) =>
    Object.keys(rows)
      .filter(isShown)
      .map((name): ConfiguredValue => {
        const row = table[name] as Variable;
        const isSecret = row.secret !== undefined && row.secret !== "database";
        const named = { name: nameOf(name), group, isSecret };
        const raw = env[name];
        // An application may give settings in the place of a text.
        if (!raw && origins?.has(name) === true)
          return { ...named, value: null, origin: originOf(name), defaultText: null };
        if (!raw) return { ...named, value: usualValue(row), origin: "default", defaultText: row.defaultText ?? null };
        const value = isSecret ? null : shown(row.secret === "database" ? withoutPassword(raw) : raw);
        return { ...named, value, origin: originOf(name), defaultText: null };
      }),
  );
  const set = (name: string, group: string, isSecret = true): ConfiguredValue[] => {
    if (!env[name]) return [];
    const value = isSecret ? null : shown(env[name]);
    return [{ name: nameOf(name), group, value, isSecret, origin: originOf(name), defaultText: null }];
  };
  const traces = Object.keys(env).filter((name) => name.startsWith("OTEL_"));
  return [
    ...known,
    ...presets.flatMap((preset) => secretVariables(preset).flatMap((name) => set(name, PLATFORMS))),
    ...traces.flatMap((name) => set(name, "Tracing", !OPEN_TRACE_VARIABLE.test(name))),
  ];
}

/** A default that is said in words is not a value. */
function usualValue({ secret, default: usual }: Variable): string | null {
  return (secret === undefined || secret === "database") && usual ? usual : null;
}

/** The others may hold a token of the collector: its headers, its address, attributes. */
const OPEN_TRACE_VARIABLE =
  /^OTEL_(?:TRACES_|BSP_|SPAN_|ATTRIBUTE_|PROPAGATORS$|SDK_DISABLED$|SERVICE_NAME$|EXPORTER_OTLP_(?:TRACES_)?PROTOCOL$)/;

/** Sources and handlers of the configuration file, or of an application's code. No secret of theirs is read. */
export function configuredInCode({ sources = {}, handlers = [] }: ConfigFile): ConfiguredValue[] {
  const of = (group: string, name: string, value: string | null): ConfiguredValue => ({
    ...{ name, group, value, isSecret: value === null },
    ...({ origin: "code", defaultText: null } as const),
  });
  const rows = Object.entries(sources).flatMap(([name, { facts, secrets, settings }]) => [
    of(PLATFORMS, `sources.${name}`, facts.title),
    ...(secrets.length > 0 ? [of(PLATFORMS, `sources.${name}.secret`, null)] : []),
    ...Object.entries(settings).flatMap(([option, value]: [string, unknown]) =>
      value === undefined ? [] : [of(PLATFORMS, `sources.${name}.${option}`, optionText(value))],
    ),
  ]);
  const byHandler = Map.groupBy(handlers, handlerName);
  const handled = [...byHandler].map(([name, ofName]) =>
    of(HANDLERS, `handlers.${name}`, shown(ofName.map(({ type }) => type).join(", ")) ?? ""),
  );
  return [...rows, ...handled];
}

function handlerName({ source = "platform", ...handler }: ConfiguredHandler): string {
  const { name } = handler as { readonly name?: unknown };
  return typeof name === "string" ? `${source}#${name}` : source;
}

function optionText(value: unknown): string {
  if (typeof value === "function") return "a function";
  return shown(typeof value === "string" ? value : (JSON.stringify(value) ?? String(value))) ?? "";
}

function shown(text: string | undefined): string | null {
  if (text === undefined) return null;
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

/** Of an address that cannot be read nothing is shown: it may hold the password anywhere. */
function withoutPassword(url: string | undefined): string | undefined {
  if (url === undefined || url.startsWith("sqlite:")) return url;
  const address = URL.parse(url);
  if (address === null) return undefined;
  const user = address.username === "" ? "" : `${address.username}@`;
  return `${address.protocol}//${user}${address.host}${address.pathname}`;
}
