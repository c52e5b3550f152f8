import { z } from "zod";
import { VERSIONS } from "../domain/index.ts";

const headers = () => z.record(z.string(), z.string());

const SAMPLE = z.strictObject({
  event_type: z.string(),
  version: z.enum(VERSIONS),
  sample: z
    .record(z.string(), z.unknown())
    .describe("The whole body, with an id of its own and the time of now."),
});

export const SANDBOX = z
  .strictObject({ events: z.array(SAMPLE) })
  .describe(
    "An event of each type that has a handler, to begin with. The fields of your own are made from the JSON Schema that `data` offers.",
  );

export const SANDBOX_EXCHANGE = z
  .strictObject({
    request: z.strictObject({
      method: z.literal("POST"),
      url: z.string(),
      headers: headers().describe("Credentials masked."),
      body: z.string(),
    }),
    response: z.strictObject({ status: z.int(), headers: headers(), body: z.string() }),
    took_ms: z.number(),
  })
  .describe("A callback that was sent to the public listener, and its answer.");

const STEP = z.strictObject({
  method: z.literal("GET"),
  url: z.string().describe("Code and state masked."),
  status: z.int(),
  says: z.string().describe("What it means."),
  body: z.string().describe("The answer's, masked; empty for a redirect."),
  took_ms: z.number(),
});

export const SANDBOX_FLOW = z
  .strictObject({ signed_in: z.boolean(), steps: z.array(STEP) })
  .describe("A sign-in at the sandbox platform, request by request, as a browser makes them.");

/** What a person composes. */
export interface SandboxSending {
  /** Sent as it is. */
  readonly body: string;
  /** `/api/platform/callback` when left out. */
  readonly path?: (typeof CALLBACK_PATHS)[number];
  /** Sent as X-API-Version. */
  readonly version?: (typeof VERSIONS)[number];
  /** `right` when left out; `wrong`: with a secret of nobody's. */
  readonly sign?: "right" | "wrong" | "none";
}

/** Below CALLBACK_BASE_URL. */
export const CALLBACK_PATHS = [
  "/api/platform/callback",
  "/api/v1/platform/callback",
  "/api/v2/platform/callback",
] as const;

export type SandboxView = z.infer<typeof SANDBOX>;
export type SandboxExchangeView = z.infer<typeof SANDBOX_EXCHANGE>;
export type SandboxFlowView = z.infer<typeof SANDBOX_FLOW>;
