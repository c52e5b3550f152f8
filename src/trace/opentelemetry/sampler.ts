import { randomBytes } from "node:crypto";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { SamplerName, TracingOptions } from "../tracing-options.ts";

const SAMPLERS: Readonly<Record<SamplerName, (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio(ratio) {
    const root = new TraceIdRatioBasedSampler(ratio);
    return new ParentBasedSampler({ root, remoteParentSampled: onItsOwn(root) });
  },
};

/**
 * Decides as if the trace began here. Anybody can send a `traceparent` that asks to be recorded, with an id that the ratio
 * would pick: whoever sets a ratio would otherwise record every forged callback.
 */
function onItsOwn(root: Sampler): Sampler {
  return {
    shouldSample: (parent, _traceId, ...rest) =>
      root.shouldSample(parent, randomBytes(16).toString("hex"), ...rest),
    toString: () => `OnItsOwn{${root.toString()}}`,
  };
}

export function samplerOf({ name, ratio }: TracingOptions["sampler"]): Sampler {
  return SAMPLERS[name](ratio);
}
