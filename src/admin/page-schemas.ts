import { z } from "zod";
import { VERSIONS } from "../domain/index.ts";
import { ALERT } from "./alert-schemas.ts";
import { hourly } from "./hourly-counts.ts";
import { SOURCE_ACTIVITY } from "./source-activity-schema.ts";

export const time = () => z.string().meta({ format: "date-time" });
export const object = () => z.record(z.string(), z.unknown());
export const view = <Shape extends z.core.$ZodLooseShape>(description: string, shape: Shape) =>
  z.strictObject(shape).describe(description);
/** PostgreSQL's text holds no NUL, so that a request with one is refused. */
export const NO_NUL = "^[^\\u0000]*$";
/** Any stored text may be asked for, in a path too. */
export const anyText = z.string().regex(new RegExp(NO_NUL));

const ADDRESS = z.strictObject({
  url: z.string().describe("Register it with the platform exactly as it is."),
  version: z.enum(["by_header", ...VERSIONS]).describe("`by_header`: X-API-Version chooses."),
  method: z.literal("POST"),
  event_types: z.array(z.string()),
});

const SECRET = z.strictObject({
  name: z.string().describe("The variable or the source, with the secret's number where it holds several."),
  is_previous: z.boolean().describe("Whether it is on its way out."),
  last_used_at: time().nullable().describe("Noted once a minute: its last use was at most a minute later."),
  can_retire: z.boolean().describe("Of a previous one: whether it can be deleted."),
  unused_since: time().nullable().describe("Of a previous one: since when it verified nothing; null if not known."),
  advice: z.string().nullable().describe("Of a previous one: whether it can go."),
});

const AUTHENTICATION = z.strictObject({
  method: z
    .enum(["hmac", "token", "jwt", "secret"])
    .describe("Of AUTH_METHOD; `secret`: as the platform of the source does."),
  header: z.string(),
  secrets: z
    .array(SECRET)
    .describe("Never their values. None for a JWK Set, in which the platform rotates its keys by itself."),
});

const ABOUT = z.strictObject({
  preset: z.string(),
  title: z.string().describe("The platform's name."),
  docs: z.string().describe("Its page on how it signs."),
  proof: z
    .enum(["signs", "verifies", "community", "documented", "own"])
    .describe(
      "What the preset was tested with: the platform's SDK that signs, one that verifies or a published vector, a community library, its documentation, or nothing, for a source of your own.",
    ),
  instruction: z.string().describe("Where to register the address, and what proves a callback."),
  identity: z.string().describe('The key of its events, and what follows: docs/sources.md, "The key of an event".'),
  deadline_seconds: z.number().nullable().describe("How long the platform waits for a response."),
  retry_hours: z.number().nullable().describe("How long it sends a callback again; 0 where it never does."),
  disables: z.string().nullable().describe("After what it disables or deletes an endpoint."),
  lists_events: z.boolean().describe("Whether `reconcile` can ask it for events that never arrived."),
});

const ANSWER = z.strictObject({
  mode: z.enum(["inline", "after", "within"]),
  within_ms: z.number().nullable().describe("With `within`; else null."),
});

export const OFFERED_SECRETS = z
  .array(
    z.strictObject({
      fingerprint: z.string(),
      address: z.string().describe("Of the client that sent it last."),
      count: z.int(),
      first_at: time(),
      last_at: time(),
      verifies: z.boolean().describe("Whether it was taken, so that it verifies callbacks."),
    }),
  )
  .describe("Sent in the last day by clients that claim to be the platform, at most 20; never their values.");

const SOURCE = z.strictObject({
  source: z.string(),
  about: ABOUT.nullable().describe("Null for the built-in protocol (`platform`)."),
  addresses: z.array(ADDRESS),
  setup: z.array(z.string()).describe("What to do at its platform and here, a sentence a step."),
  event_types: z.array(z.string()).describe("The types and patterns that have a handler."),
  sample_type: z.string().nullable().describe("What `oncehook send` can send; null where only the platform can."),
  unhandled: z.enum(["ignore", "refuse"]).describe("What becomes of another type."),
  answer: ANSWER.describe("When a callback gets its response."),
  rate: z
    .strictObject({ callbacks: z.int(), seconds: z.int() })
    .nullable()
    .describe("What one remote address may send; null for no limit."),
  activity: SOURCE_ACTIVITY.describe("The last 24 hours. Counts of other processes may be some seconds behind."),
  authenticated_by: z.string().describe("How the methods are combined, in words."),
  authentication: z.array(AUTHENTICATION),
  has_tenant_secrets: z.boolean().describe("By tenant: `GET /api/v1/sources/{source}/tenants` has their uses."),
  offered_secrets: OFFERED_SECRETS,
});

const HANDLER = z.strictObject({
  source: z.string(),
  event_type: z.string(),
  name: z.string().nullable().describe("Tells several handlers of one type apart; null where it has none."),
  versions: z.array(z.enum(VERSIONS)),
  has_prepare: z.boolean(),
  time_limit_ms: z.int(),
});

const OAUTH = z.strictObject({
  redirect_uri: z.string().describe("Register it with the authorization server exactly as it is."),
  start_url: z.string().nullable().describe("Null where no flow starts here."),
});

export const SOURCES = view("Endpoint URLs, authentication and event types.", {
  items: z.array(SOURCE),
  oauth: OAUTH.nullable().describe("Null where nothing handles `user_authorized`."),
  handlers: z.array(HANDLER),
});

export const TENANT = view("When the secrets of a tenant were used last, to ten minutes.", {
  tenant: z.string(),
  current_used_at: time().nullable().describe("The one that the source's function returned first."),
  previous_used_at: time().nullable().describe("Any other one."),
});

const CHECKED_ENDPOINT = z.strictObject({
  url: z.string(),
  reached: z.boolean(),
  message: z.string().describe("What was found, and where it is not well, what to do."),
  warning: z.string().nullable().describe("What may keep a platform outside from it all the same."),
  duration_ms: z.number(),
  status: z.int().nullable().describe("Null where no answer came."),
});

export const ENDPOINT_CHECK = view(
  "Whether the registered addresses lead to a receiver of this database. The first one that does not, or else the first one, and then each.",
  { ...CHECKED_ENDPOINT.shape, addresses: z.array(CHECKED_ENDPOINT) },
);

export type TenantView = z.infer<typeof TENANT>;
export type SourceView = z.infer<typeof SOURCE>;
export type SourcesView = z.infer<typeof SOURCES>;
export type EndpointCheckView = z.infer<typeof ENDPOINT_CHECK>;

const headers = () => z.record(z.string(), z.string());

const SAMPLE = z.strictObject({
  event_type: z.string(),
  version: z.enum(VERSIONS),
  sample: object().describe("The whole body, with an id of its own and the time of now."),
});

export const SANDBOX = view(
  "An event of each type that has a handler, to begin with. The fields of your own are made from the JSON Schema that `data` offers.",
  {
    events: z.array(SAMPLE),
    sources: z
      .array(
        z.strictObject({
          source: z.string(),
          title: z.string().describe("Of its platform."),
          types: z.array(z.string()).describe("Those that a handler names; it may take others by a pattern."),
        }),
      )
      .describe("The sources beside the built-in protocol (`platform`)."),
  },
);

export const SANDBOX_SAMPLE = view("A callback of a source, to begin with.", {
  body: z.string().describe("In the shape of its platform, with an id of its own and the time of now."),
});

export const SANDBOX_RESULT = view("A callback that was sent to the public listener, and its answer.", {
  request: z.strictObject({
    method: z.literal("POST"),
    url: z.string(),
    headers: headers().describe("Credentials masked."),
    body: z.string(),
  }),
  response: z.strictObject({ status: z.int(), headers: headers(), body: z.string() }),
  duration_ms: z.number(),
});

const STEP = z.strictObject({
  method: z.literal("GET"),
  url: z.string().describe("Code and state masked."),
  status: z.int(),
  message: z.string().describe("What it means."),
  body: z.string().describe("The answer's, masked; empty for a redirect."),
  duration_ms: z.number(),
});

export const SANDBOX_FLOW = view("A sign-in at the sandbox platform, request by request, as a browser makes them.", {
  signed_in: z.boolean(),
  steps: z.array(STEP),
});

/** Below CALLBACK_BASE_URL. */
export const CALLBACK_PATHS = [
  "/api/platform/callback",
  "/api/v1/platform/callback",
  "/api/v2/platform/callback",
] as const;

const SENT = {
  body: z.string().describe("Sent as it is; it need not be an event."),
  sign: z
    .enum(["right", "wrong", "none"])
    .default("right")
    .describe("`wrong`: with a random secret, to see the refusal."),
};
export const SANDBOX_REQUEST = z.strictObject({
  ...SENT,
  path: z.enum(CALLBACK_PATHS).default(CALLBACK_PATHS[0]),
  version: z.enum(VERSIONS).describe("Sent as X-API-Version.").optional(),
});
export const SANDBOX_SOURCE_REQUEST = z.strictObject({
  type: anyText.max(256).describe("Headers may depend on it."),
  ...SENT,
});

export type SandboxRequest = z.input<typeof SANDBOX_REQUEST>;
export type SandboxSourceRequest = z.input<typeof SANDBOX_SOURCE_REQUEST>;
export type SandboxView = z.infer<typeof SANDBOX>;
export type SandboxSampleView = z.infer<typeof SANDBOX_SAMPLE>;
export type SandboxResultView = z.infer<typeof SANDBOX_RESULT>;
export type SandboxFlowView = z.infer<typeof SANDBOX_FLOW>;

const OUTCOMES = z
  .record(z.string(), z.int())
  .describe("By code; `accepted_failed` and `accepted_rejected` count accepted events a second time.");
const quantile = () => z.number().nullable().describe("In ms; never above the highest latency that was counted.");

export const OVERVIEW = view("What came to the receivers of this database: their counts may be some seconds behind.", {
  span: z.enum(["hour", "day", "month"]),
  from: time(),
  to: time(),
  step_seconds: z.int(),
  buckets: z
    .array(z.strictObject({ at: time(), outcomes: OUTCOMES, p50_ms: quantile(), p99_ms: quantile() }))
    .describe("Every period of the span, oldest first; the last one is not over."),
  totals: z.strictObject({ outcomes: OUTCOMES, p50_ms: quantile(), p99_ms: quantile() }),
  failures: z.strictObject({
    accepted: z.int().describe("Events whose platform has its response, and whose first attempt has not ended."),
    oldest_accepted_at: time().nullable(),
    waiting: z.int(),
    exhausted: z.int(),
    rejected: z.int(),
    next_attempt_at: time().nullable(),
  }),
  notifications: z.strictObject({ waiting: z.int(), dead: z.int() }),
  alerts: z.array(ALERT).describe("Those that are open, and those that are muted."),
  needs_attention: z.array(z.strictObject({ kind: z.string(), count: z.int(), message: z.string() })),
  problems: z.strictObject({
    open: z.int().describe("How many are open and not muted."),
    top: z
      .array(
        z.strictObject({
          id: z.string(),
          kind: z.string(),
          source: z.string(),
          event_type: z.string().nullable(),
          code: z.string(),
          title: z.string(),
          count: z.int(),
          at_least: z.boolean().describe("Whether there are more."),
          since: time(),
          first_seen: time(),
          hourly: hourly(),
        }),
      )
      .describe("The most frequent open ones, at most ten; `GET /api/v1/problems` has all."),
  }),
});

export const TALLY = view("`event: tally` of a live stream; of all callbacks, whatever its filter.", {
  callbacks: z.int().describe("How many rows the log got since the tally before."),
  outcomes: OUTCOMES.describe("How they ended."),
  accepted: z.int().describe("Accepted events whose first attempt has not ended."),
  waiting: z.int().describe("Failures that wait for a retry."),
  exhausted: z.int().describe("Failures with retries exhausted."),
  rejected: z.int().describe("Failures that were rejected."),
});

export type OverviewView = z.infer<typeof OVERVIEW>;
export type TallyView = z.infer<typeof TALLY>;

export const SESSION = view("Who one is.", {
  actor: z.string().describe("`token`, a mail address, or `sub:` and the subject at the provider."),
  role: z.enum(["viewer", "operator"]),
  expires_at: time().nullable().describe("Null with a token, which is asked for each time."),
  environment: z.string(),
  version: z.string().describe("Of the receiver."),
  sandbox: z.boolean().describe("Whether there is a sandbox platform."),
});

export const SIGN_IN = z.strictObject({
  methods: z.array(z.enum(["token", "oidc"])),
  oidc_label: z.string().nullable().describe("What to call the provider; its way begins at `/sign-in/oidc`."),
  environment: z.string(),
});
export type SessionView = z.infer<typeof SESSION>;
export type SignInView = z.infer<typeof SIGN_IN>;
