import { SAMPLERS, type TracingOptions } from "../observability/tracing/index.ts";
import type { Environment } from "./read-variables.ts";
import { percentDecoded } from "./variable.ts";

const ENDPOINTS = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"] as const;
const HEADERS = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"] as const;
const EXPORTERS = ["otlp", "console", "none"] as const;
const PROTOCOLS = ["http/protobuf", "http/json"] as const;
const PROPAGATORS = ["tracecontext", "baggage", "none"] as const;

/**
 * The `OTEL_*` variables, as OpenTelemetry's specification has them: an empty value is none, and one that cannot be used is
 * told and ignored, where our own variables refuse the start. Null where nothing asks for traces.
 */
export function tracingOf(env: Environment): TracingOptions | null {
  const read = createReader(env);
  const exporters = exportersOf(read, env);
  if (exporters.length === 0) return null;
  const propagators = read.list("OTEL_PROPAGATORS", PROPAGATORS);
  const maxQueueSize = read.number("OTEL_BSP_MAX_QUEUE_SIZE", 1) ?? 2_048;
  read.attributes("OTEL_RESOURCE_ATTRIBUTES");
  return {
    exporters,
    protocol:
      read.choice("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", PROTOCOLS) ??
      read.choice("OTEL_EXPORTER_OTLP_PROTOCOL", PROTOCOLS) ??
      "http/protobuf",
    acceptsParent: propagators === undefined || propagators.includes("tracecontext"),
    sampler: {
      name: read.choice("OTEL_TRACES_SAMPLER", SAMPLERS) ?? "parentbased_always_on",
      ratio: read.ratio("OTEL_TRACES_SAMPLER_ARG") ?? 1,
    },
    batch: {
      scheduledDelayMillis: read.number("OTEL_BSP_SCHEDULE_DELAY") ?? 5_000,
      exportTimeoutMillis: read.number("OTEL_BSP_EXPORT_TIMEOUT", 1) ?? 30_000,
      maxQueueSize,
      maxExportBatchSize: Math.min(read.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1) ?? 512, maxQueueSize),
    },
    limits: {
      attributeValueLengthLimit:
        read.number("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT") ??
        read.number("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"),
      attributeCountLimit:
        read.number("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT") ?? read.number("OTEL_ATTRIBUTE_COUNT_LIMIT"),
      eventCountLimit: read.number("OTEL_SPAN_EVENT_COUNT_LIMIT"),
      linkCountLimit: read.number("OTEL_SPAN_LINK_COUNT_LIMIT"),
    },
    warnings: read.warnings,
  };
}

/** Shorter ones are words, which must stay readable in the log. */
const SHORTEST_SECRET = 8;

export function exporterSecrets(env: Environment): string[] {
  const values = HEADERS.flatMap((name) => (env[name] ?? "").split(","))
    .map((pair) => percentDecoded(pair.slice(pair.indexOf("=") + 1).trim()) ?? "")
    .flatMap((value) => [value, ...value.split(" ")]);
  const passwords = ENDPOINTS.map((name) => percentDecoded(URL.parse(env[name] ?? "")?.password ?? "") ?? "");
  return [...values, ...passwords].filter(({ length }) => length >= SHORTEST_SECRET);
}

function exportersOf(read: Reader, env: Environment): TracingOptions["exporters"] {
  const disabled = read.choice("OTEL_SDK_DISABLED", ["true", "false"] as const);
  if (disabled === "true") return [];
  const named = read.list("OTEL_TRACES_EXPORTER", EXPORTERS);
  const isEndpointSet = ENDPOINTS.some((name) => (env[name] ?? "").trim() !== "");
  if (named === undefined || named.length === 0) return isEndpointSet ? ["otlp"] : [];
  return named.includes("none") ? [] : [...new Set(named)].filter((name) => name !== "none");
}

type Reader = ReturnType<typeof createReader>;

function createReader(env: Environment) {
  const warnings: string[] = [];
  const text = (name: string) => env[name]?.trim() || undefined;
  const ignored = (name: string, got: string, expected: string): undefined => {
    warnings.push(`${name}: got ${JSON.stringify(got)}, expected ${expected}; it is ignored`);
  };

  function chosen<Name extends string>(name: string, raw: string, names: readonly Name[]): Name | undefined {
    const known = names.find((one) => one === raw.toLowerCase());
    return known ?? ignored(name, raw, `one of ${names.join(", ")}`);
  }

  function numeric(name: string, isFit: (value: number) => boolean, expected: string): number | undefined {
    const raw = text(name);
    if (raw === undefined) return undefined;
    return isFit(Number(raw)) ? Number(raw) : ignored(name, raw, expected);
  }

  return {
    warnings,
    choice<Name extends string>(name: string, names: readonly Name[]): Name | undefined {
      const raw = text(name);
      return raw === undefined ? undefined : chosen(name, raw, names);
    },
    /** Undefined where it is not set; unknown parts are left out. */
    list<Name extends string>(name: string, names: readonly Name[]): Name[] | undefined {
      const parts = text(name)
        ?.split(",")
        .map((part) => part.trim());
      return parts
        ?.filter((part) => part !== "")
        .map((part) => chosen(name, part, names))
        .filter((part) => part !== undefined);
    },
    number: (name: string, least = 0) =>
      numeric(name, (value) => Number.isSafeInteger(value) && value >= least, `a whole number from ${least}`),
    ratio: (name: string) => numeric(name, (value) => value >= 0 && value <= 1, "a number from 0 to 1"),
    /** Checked alone: the official package reads it, and discards in silence what it cannot read. */
    attributes(name: string): void {
      const raw = text(name);
      if (raw === undefined || raw.split(",").every(isAttribute)) return;
      ignored(name, raw, "key=value, separated by commas, with , and = percent-encoded");
    },
  };
}

function isAttribute(part: string): boolean {
  if (part.trim() === "") return true;
  const [key = "", value, ...more] = part.split("=");
  if (key.trim() === "" || value === undefined || more.length > 0) return false;
  try {
    return decodeURIComponent(key).length <= 255 && decodeURIComponent(value).length <= 255;
  } catch {
    return false;
  }
}
