import type { TracingOptions } from "../index.ts";
import type { TracingDependencies } from "./server-tracing.ts";
import type { ErrorDescription } from "./span-tracer.ts";

/** The tracing of a server: OpenTelemetry's own SDK, loaded here. */
export async function openTracing(options: TracingOptions, deps: TracingDependencies) {
  return (await import("./server-tracing.ts")).openTracing(options, deps);
}

/**
 * The tracing of the application around a receiver.
 * @returns undefined, having loaded nothing, where the application has registered none
 */
export async function joinTracing(errors: ErrorDescription) {
  const registered = Reflect.get(globalThis, Symbol.for("opentelemetry.js.api.1"));
  if (registered?.trace === undefined) return undefined;
  return (await import("./application-tracing.ts")).applicationTracing(registered, errors);
}
