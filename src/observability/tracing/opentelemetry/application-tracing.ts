import { ROOT_CONTEXT, type TextMapPropagator, type TracerProvider, trace } from "@opentelemetry/api";
import { type ActiveContexts, createSpanTracer, type ErrorDescription, idsOf } from "./span-tracer.ts";

/** The globals of `@opentelemetry/api` 1.x, of which an application may register some. */
interface Registered {
  readonly trace: TracerProvider;
  readonly context?: ActiveContexts;
  readonly propagation?: TextMapPropagator;
}

const WITHOUT_CONTEXT: ActiveContexts = {
  active: () => ROOT_CONTEXT,
  with: (_context, run, self, ...args) => run.call(self as never, ...args),
};
const WITHOUT_PROPAGATION: TextMapPropagator = { inject() {}, extract: (context) => context, fields: () => [] };

/**
 * Spans of the application's own tracer, within its active span. It is read where every copy of the API registers it.
 * Through the copy of this package, an application with an older minor version would have none: the API refuses those.
 */
export function applicationTracing(registered: Registered, errors: ErrorDescription) {
  const { context: contexts = WITHOUT_CONTEXT, propagation: propagator = WITHOUT_PROPAGATION } = registered;
  const spans = registered.trace.getTracer("oncehook");
  return {
    tracer: createSpanTracer({ spans, contexts, propagator, requestParent: "active" }, errors),
    activeIds: () => idsOf(trace.getSpanContext(contexts.active())),
  };
}
