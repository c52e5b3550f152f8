import { percentDecoded } from "../domain/index.ts";
import { SAMPLERS, type TracingOptions } from "../observability/tracing/index.ts";
import type { Environment } from "./read-variables.ts";
import { TextSchema } from "./text-schema.ts";
import { text } from "./variable.ts";

const ENDPOINTS = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"] as const;
const HEADERS = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"] as const;
const oneOf = <const Name extends string>(...names: readonly Name[]) =>
  new TextSchema((raw) => names.find((name) => name === raw.toLowerCase()), `one of ${names.join(", ")}`);
const wholeNumber = (least: number) =>
  text(`a whole number from ${least}`)
    .transform(Number)
    .refine((value) => Number.isSafeInteger(value) && value >= least);
const count = wholeNumber(0);
const countFromOne = wholeNumber(1);
const ratio = text("a number from 0 to 1")
  .transform(Number)
  .refine((value) => value >= 0 && value <= 1);
const protocol = oneOf("http/protobuf", "http/json");
/** Only checked here: the official package reads the value, and silently discards an unreadable one. */
const attributes = text("key=value, separated by commas, with , and = percent-encoded").refine((raw) =>
  raw.split(",").every(isAttribute),
);

/**
 * The `OTEL_*` variables, as OpenTelemetry's specification has them: an empty value counts as not set. A value that cannot be
 * used is a warning, where our own variables refuse the start. Null where nothing asks for traces.
 */
export function tracingOf(env: Environment): TracingOptions | null {
  const reader = createReader(env);
  const { read, readList, warnings } = reader;
  const exporters = exportersOf(reader, env);
  if (exporters.length === 0) return null;
  const propagators = readList("OTEL_PROPAGATORS", oneOf("tracecontext", "baggage", "none"));
  const maxQueueSize = read("OTEL_BSP_MAX_QUEUE_SIZE", countFromOne) ?? 2_048;
  read("OTEL_RESOURCE_ATTRIBUTES", attributes);
  return {
    exporters,
    protocol:
      read("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", protocol) ??
      read("OTEL_EXPORTER_OTLP_PROTOCOL", protocol) ??
      "http/protobuf",
    acceptsParent: propagators === undefined || propagators.includes("tracecontext"),
    sampler: {
      name: read("OTEL_TRACES_SAMPLER", oneOf(...SAMPLERS)) ?? "parentbased_always_on",
      ratio: read("OTEL_TRACES_SAMPLER_ARG", ratio) ?? 1,
    },
    batch: {
      scheduledDelayMillis: read("OTEL_BSP_SCHEDULE_DELAY", count) ?? 5_000,
      exportTimeoutMillis: read("OTEL_BSP_EXPORT_TIMEOUT", countFromOne) ?? 30_000,
      maxQueueSize,
      maxExportBatchSize: Math.min(read("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", countFromOne) ?? 512, maxQueueSize),
    },
    limits: {
      attributeValueLengthLimit:
        read("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", count) ?? read("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", count),
      attributeCountLimit: read("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", count) ?? read("OTEL_ATTRIBUTE_COUNT_LIMIT", count),
      eventCountLimit: read("OTEL_SPAN_EVENT_COUNT_LIMIT", count),
      linkCountLimit: read("OTEL_SPAN_LINK_COUNT_LIMIT", count),
    },
    warnings,
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

function exportersOf({ read, readList }: ReturnType<typeof createReader>, env: Environment) {
  if (read("OTEL_SDK_DISABLED", oneOf("true", "false")) === "true") return [];
  const named = readList("OTEL_TRACES_EXPORTER", oneOf("otlp", "console", "none"));
  const isEndpointSet = ENDPOINTS.some((name) => (env[name] ?? "").trim() !== "");
  if (named === undefined || named.length === 0) return isEndpointSet ? ["otlp" as const] : [];
  return named.includes("none") ? [] : [...new Set(named)].filter((name) => name !== "none");
}

function createReader(env: Environment) {
  const warnings: string[] = [];

  function parse<Value>(name: string, raw: string, schema: TextSchema<Value>): Value | undefined {
    const value = schema.read(raw);
    if (value === undefined)
      warnings.push(`${name}: got ${JSON.stringify(raw)}, expected ${schema.description}; it is ignored`);
    return value;
  }

  return {
    warnings,
    read<Value>(name: string, schema: TextSchema<Value>): Value | undefined {
      const raw = env[name]?.trim();
      return raw ? parse(name, raw, schema) : undefined;
    },
    /** Undefined where it is not set; unknown parts are left out. */
    readList<Value>(name: string, schema: TextSchema<Value>): Value[] | undefined {
      if (!env[name]?.trim()) return undefined;
      const parts = env[name].split(",").map((part) => part.trim());
      const values = parts.filter((part) => part !== "").map((part) => parse(name, part, schema));
      return values.filter((value) => value !== undefined);
    },
  };
}

function isAttribute(part: string): boolean {
  if (part.trim() === "") return true;
  const [key = "", value, ...more] = part.split("=");
  if (key.trim() === "" || value === undefined || more.length > 0) return false;
  return [key, value].every((text) => (percentDecoded(text)?.length ?? 256) <= 255);
}
