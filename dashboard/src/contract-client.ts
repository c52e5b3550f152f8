/** The methods of the admin API that its client does not have yet, as it will have them. */
import { AdminError, type EventKey, type Paging } from "oncehook/admin-client";
import type {
  AuditEntryView,
  BulkReplayView,
  CallbackFilters,
  CallbackView,
  EventHistoryView,
  FailureFilter,
  FailureView,
  OverviewView,
  Page,
  ReplayView,
  SessionView,
  SignInView,
  Span,
} from "./contract.ts";
import type {
  ReachView,
  SandboxEvent,
  SandboxExchangeView,
  SandboxFlowView,
  SandboxSending,
  SourcesView,
} from "./contract-setup.ts";
import { fetchAsOperator } from "./memory-token.ts";

interface Asked {
  readonly query?: object;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

const bulkReplay = (id: number, action: string) =>
  ask<BulkReplayView>("POST", `bulk-replays/${id}/${action}`);
const path = ({ source, event_id }: EventKey) =>
  `${encodeURIComponent(source)}/${encodeURIComponent(event_id)}`;

export const contractClient = {
  session: {
    methods: () => ask<SignInView>("GET", "sign-in"),
    begin: (body: { readonly token: string }) =>
      ask<SessionView>("POST", "session", { body, headers: { authorization: `Bearer ${body.token}` } }),
    get: () => ask<SessionView>("GET", "session"),
    end: () => ask<undefined>("DELETE", "session"),
  },
  audit: {
    list: (query: Paging & { readonly action?: string; readonly who?: string } = {}) =>
      ask<Page<AuditEntryView>>("GET", "audit", { query }),
  },
  callbacks: {
    list: (query: Paging & CallbackFilters = {}) => ask<Page<CallbackView>>("GET", "callbacks", { query }),
    get: (id: number) => ask<CallbackView>("GET", `callbacks/${id}`),
    exportUrl: (filters: CallbackFilters = {}, format: "ndjson" | "csv" = "ndjson") =>
      addressOf("callbacks/export", { format, ...filters }),
  },
  overview: (span: Span) => ask<OverviewView>("GET", "overview", { query: { span } }),
  events: {
    get: (source: string, event_id: string, query: Paging = {}) =>
      ask<EventHistoryView>("GET", `events/${path({ source, event_id })}`, { query }),
  },
  failures: {
    list: (query: Paging & FailureFilter = {}) => ask<Page<FailureView>>("GET", "failures", { query }),
    replay: (key: EventKey, query: { readonly dry_run?: boolean } = {}) =>
      ask<ReplayView>("POST", `failures/${path(key)}/replay`, { query }),
  },
  bulkReplays: {
    start: (body: { readonly filter: FailureFilter; readonly per_second?: number }) =>
      ask<BulkReplayView>("POST", "bulk-replays", { body }),
    list: (query: Paging = {}) => ask<Page<BulkReplayView>>("GET", "bulk-replays", { query }),
    pause: (id: number) => bulkReplay(id, "pause"),
    resume: (id: number) => bulkReplay(id, "resume"),
    cancel: (id: number) => bulkReplay(id, "cancel"),
  },
  sources: {
    list: () => ask<SourcesView>("GET", "sources"),
    reach: (source: string) => ask<ReachView>("POST", `sources/${encodeURIComponent(source)}/reach`),
  },
  sandbox: {
    get: () => ask<{ events: readonly SandboxEvent[] }>("GET", "sandbox"),
    send: (body: SandboxSending) => ask<SandboxExchangeView>("POST", "sandbox/events", { body }),
    oauth: () => ask<SandboxFlowView>("POST", "sandbox/oauth"),
  },
};

function addressOf(to: string, query: object = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]));
  return `/api/v1/${to}${search.size === 0 ? "" : `?${search}`}`;
}

async function ask<Answer>(
  method: string,
  to: string,
  { query, body, headers }: Asked = {},
): Promise<Answer> {
  const response = await fetchAsOperator(addressOf(to, query), {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.status === 204) return undefined as Answer;
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer as Answer;
  const { error } = (answer ?? {}) as { error?: unknown };
  throw new AdminError(response.status, typeof error === "string" ? error : `answered ${response.status}`);
}
