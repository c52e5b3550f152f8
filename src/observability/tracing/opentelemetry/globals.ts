import {
  type ContextManager,
  context,
  type DiagLogger,
  diag,
  propagation,
  type TextMapPropagator,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { loggingErrorHandler, setGlobalErrorHandler } from "@opentelemetry/core";

/** OpenTelemetry's messages and the failures of its exports. */
export interface Diagnostics {
  readonly logger: DiagLogger;
  readonly failed: (error: unknown) => void;
}

export interface GlobalParts {
  readonly provider: TracerProvider;
  readonly contexts: ContextManager;
  readonly propagator: TextMapPropagator;
}

/**
 * OpenTelemetry's globals, for the server: a handler that uses the API is traced with it. If another SDK has
 * them already, they stay its own, and the server's spans are that SDK's.
 */
export function takeGlobals({ provider, contexts, propagator }: GlobalParts) {
  const isOurs = trace.setGlobalTracerProvider(provider);
  if (isOurs) {
    context.setGlobalContextManager(contexts);
    propagation.setGlobalPropagator(propagator);
  }
  return {
    spans: trace.getTracer("oncehook"),
    contexts: context,
    release(): void {
      if (!isOurs) return;
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}

/** @returns what gives them back */
export function takeDiagnostics({ logger, failed }: Diagnostics): () => void {
  diag.setLogger(logger, { suppressOverrideMessage: true });
  setGlobalErrorHandler(failed);
  return () => {
    setGlobalErrorHandler(loggingErrorHandler());
    diag.disable();
  };
}
