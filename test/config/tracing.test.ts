import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { BASE } from "../support/configuration.ts";

const tracing = (env: Record<string, string>) => loadConfig({ ...BASE, ...env }).tracing;
const ON = { OTEL_TRACES_EXPORTER: "otlp" };

describe("traces", () => {
  it.each([
    [{}],
    [{ OTEL_TRACES_EXPORTER: "none" }],
    [{ OTEL_TRACES_EXPORTER: "" }],
    [{ OTEL_SERVICE_NAME: "payments", OTEL_METRICS_EXPORTER: "otlp", OTEL_LOG_LEVEL: "debug" }],
    [{ ...ON, OTEL_SDK_DISABLED: "TRUE" }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318", OTEL_TRACES_EXPORTER: "none" }],
  ])("traces are off with %j", (env) => {
    expect(tracing(env)).toBeNull();
  });

  it.each([
    [ON, ["otlp"]],
    [{ OTEL_TRACES_EXPORTER: "console" }, ["console"]],
    [{ OTEL_TRACES_EXPORTER: "otlp, console,otlp" }, ["otlp", "console"]],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" }, ["otlp"]],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://localhost:4318/v1/traces" }, ["otlp"]],
    [{ ...ON, OTEL_SDK_DISABLED: "false" }, ["otlp"]],
  ])("traces are on with %j", (env, exporters) => {
    expect(tracing(env)).toMatchObject({ exporters, warnings: [] });
  });

  it("traces have the specification's defaults", () => {
    expect(tracing(ON)).toMatchObject({
      protocol: "http/protobuf",
      acceptsParent: true,
      sampler: { name: "parentbased_always_on", ratio: 1 },
      batch: {
        scheduledDelayMillis: 5_000,
        exportTimeoutMillis: 30_000,
        maxQueueSize: 2_048,
        maxExportBatchSize: 512,
      },
    });
  });

  it("traces follow the specification's variables, the one for traces before the one for all signals", () => {
    const set = tracing({
      ...ON,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      OTEL_BSP_MAX_QUEUE_SIZE: "100",
      OTEL_PROPAGATORS: "baggage",
      OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: "1000",
      OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: "500",
    });
    expect(set).toMatchObject({
      protocol: "http/json",
      acceptsParent: false,
      sampler: { name: "parentbased_traceidratio", ratio: 0.25 },
      batch: { maxQueueSize: 100, maxExportBatchSize: 100 },
      limits: { attributeValueLengthLimit: 500 },
      warnings: [],
    });
  });

  it.each([
    ["OTEL_TRACES_EXPORTER", "otlp,zipkin"],
    ["OTEL_SDK_DISABLED", "yes"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_TRACES_SAMPLER", "jaeger_remote"],
    ["OTEL_TRACES_SAMPLER_ARG", "2"],
    ["OTEL_BSP_MAX_QUEUE_SIZE", "0"],
    ["OTEL_BSP_SCHEDULE_DELAY", "soon"],
    ["OTEL_PROPAGATORS", "tracecontext,b3"],
    ["OTEL_SPAN_LINK_COUNT_LIMIT", "-1"],
    ["OTEL_RESOURCE_ATTRIBUTES", "team"],
    ["OTEL_RESOURCE_ATTRIBUTES", "team=%zz"],
  ])("an invalid %s=%s is warned of and ignored, and traces stay on", (name, value) => {
    const usual = tracing(ON);
    const { warnings, ...others } = tracing({ ...ON, [name]: value })!;
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`^${name}: got .*, expected .*; it is ignored$`))]);
    expect({ ...others, warnings: [] }).toEqual(usual);
  });

  it("the collector's credentials are masked in every log", () => {
    const { secretValues } = loadConfig({
      ...BASE,
      ...ON,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20a-token-of-the-collector,tier=free",
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://user:a-password@collector.example.com",
    });
    expect(secretValues).toEqual(expect.arrayContaining(["a-token-of-the-collector", "a-password"]));
    expect(secretValues).not.toContain("free");
  });
});
