import type {
  AuditEntryView,
  BulkReplayView,
  CallbackPage,
  CallbackView,
  EndpointCheckView,
  EventHistoryView,
  EventView,
  FailureView,
  NotificationView,
  OverviewView,
  PageOf,
  ReplayView,
  SandboxFlowView,
  SandboxRequest,
  SandboxResultView,
  SandboxView,
  SessionView,
  SignInView,
  SourcesView,
} from "../admin/index.ts";
import { toPathSegment } from "../domain/index.ts";
import { type LiveOptions, readLive } from "./live.ts";
import {
  type AdminClientOptions,
  createOpenStream,
  createRequest,
  type SendRequest,
  urlOf,
} from "./request.ts";

/** What every list takes. */
export interface PageParams {
  /** From 1 to 200; 50 when left out. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** Which callbacks are meant; what is left out does not matter. */
export interface CallbackFilters {
  /** ISO 8601 with its time zone. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly source?: string | undefined;
  readonly event_type?: string | undefined;
  /** A number, or a class such as `4xx`. */
  readonly status?: string | number | undefined;
  /** One, or several separated by commas. */
  readonly outcome?: string | undefined;
  readonly remote_address?: string | undefined;
  readonly event_id?: string | undefined;
  /** A part of the masked body. */
  readonly text?: string | undefined;
}

/** Whose failure, or record, it is. */
export interface EventKey {
  readonly source: string;
  readonly event_id: string;
}

/** Which failures are meant: those that have all of it. */
export interface FailureFilter {
  readonly state?: FailureView["state"] | undefined;
  readonly source?: string | undefined;
  readonly event_type?: string | undefined;
  /** A code of docs/errors.md. */
  readonly code?: string | undefined;
}

/**
 * The admin API with its types, for scripts and pages: it needs nothing but `fetch`. Every method throws AdminError where the
 * receiver refuses, and what `fetch` throws where it does not answer.
 */
export type AdminClient = ReturnType<typeof createAdminClient>;

/**
 * @param options the origin of the admin listener, such as `http://127.0.0.1:8081`, and the token; in a page of that origin neither,
 *   since the browser has the session's cookie
 */
export function createAdminClient(options: AdminClientOptions) {
  const request = createRequest(options);
  const open = createOpenStream(options);
  return {
    ...accessMethods(request),
    ...failureMethods(request),
    ...sourceMethods(request),
    callbacks: {
      /** The callback log, newest first. A page may have few items, or none, and still a cursor that goes on looking. */
      list: (query: PageParams & CallbackFilters = {}) =>
        request<CallbackPage>("GET", "callbacks", { query }),
      get: (id: number) => request<CallbackView>("GET", `callbacks/${id}`),
      /** Where a browser that is signed in downloads all that matches, as NDJSON or CSV. */
      exportUrl: (filters: CallbackFilters = {}, format: "ndjson" | "csv" = "ndjson") =>
        urlOf(options, "callbacks/export", { format, ...filters }),
    },
    /**
     * Callbacks as they are answered, with a tally every two seconds, until the signal. A connection that breaks is opened
     * again, and what came meanwhile is brought up.
     * @throws what a request throws where it cannot be opened at first, or is refused later
     */
    live: (filters: CallbackFilters = {}, given: LiveOptions = {}) =>
      readLive((headers, signal) => open("live", { query: filters, headers, signal }), given),
    /** Outcomes, latency, and what needs attention. */
    overview: (span: OverviewView["span"] = "hour") =>
      request<OverviewView>("GET", "overview", { query: { span } }),
    events: {
      /** The records of processed events, newest first. */
      list: (query: PageParams & { readonly event_id?: string | undefined } = {}) =>
        request<PageOf<EventView>>("GET", "events", { query }),
      /** One event and its timeline, oldest first. @param query.cursor a `timeline_cursor` */
      get: (source: string, event_id: string, query: PageParams = {}) =>
        request<EventHistoryView>("GET", `events/${pathSegment(source)}/${pathSegment(event_id)}`, { query }),
    },
    notifications: {
      list: (query: PageParams & { readonly state?: "waiting" | "delivered" | "dead" } = {}) =>
        request<PageOf<NotificationView>>("GET", "notifications", { query }),
      /** Delivers again what is dead. */
      replay: (id: number) =>
        request<{ deliveries: number; not_configured: string[] }>("POST", `notifications/${id}/replay`),
      /** Of one channel alone, or all deliveries that wait or are dead. */
      discard: (id: number, query: { readonly channel?: string } = {}) =>
        request<{ deliveries: number }>("DELETE", `notifications/${id}`, { query }),
    },
    users: {
      /** Ends a user's authorization, at the platform and here; `local_only` here alone. */
      revokeTokens: (userId: string, query: { readonly local_only?: boolean } = {}) =>
        request<undefined>("DELETE", `users/${pathSegment(userId)}/tokens`, { query }),
    },
    oauth: {
      /** Registers the state of a flow that the platform starts. @param body.expires_in seconds; 600 when left out */
      expectState: (body: { readonly state: string; readonly expires_in?: number }) =>
        request<{ expires_at: string }>("POST", "oauth/states", { body }),
    },
  };
}

function accessMethods(request: SendRequest) {
  return {
    session: {
      /** The sign-in methods. */
      methods: () => request<SignInView>("GET", "sign-in"),
      /** Signs in with a token; the browser keeps the cookie. */
      start: (body: { readonly token: string }) => request<SessionView>("POST", "session", { body }),
      /** The current session; AdminError with status 401 if not signed in. */
      get: () => request<SessionView>("GET", "session"),
      /** Signs out. */
      end: () => request<undefined>("DELETE", "session"),
    },
    audit: {
      /** The audit log, newest first. */
      list: (query: PageParams & { readonly action?: string; readonly actor?: string } = {}) =>
        request<PageOf<AuditEntryView>>("GET", "audit", { query }),
    },
  };
}

function failureMethods(request: SendRequest) {
  const failure = ({ source, event_id }: EventKey) =>
    `failures/${pathSegment(source)}/${pathSegment(event_id)}`;
  return {
    failures: {
      list: (query: PageParams & FailureFilter & { readonly event_id?: string | undefined } = {}) =>
        request<PageOf<FailureView>>("GET", "failures", { query }),
      /** Runs a failed event now; `dry_run` rolls everything back and shows what it came to. */
      replay: (key: EventKey, query: { readonly dry_run?: boolean } = {}) =>
        request<ReplayView>("POST", `${failure(key)}/replay`, { query }),
      discard: (key: EventKey) => request<undefined>("DELETE", failure(key)),
    },
    bulkReplays: {
      /** Replays all failures that the filter finds now. @param body.per_second from 1 to 100; 10 when left out */
      start: (body: { readonly filter: FailureFilter; readonly per_second?: number }) =>
        request<BulkReplayView>("POST", "bulk-replays", { body }),
      list: (query: PageParams = {}) => request<PageOf<BulkReplayView>>("GET", "bulk-replays", { query }),
      get: (id: number) => request<BulkReplayView>("GET", `bulk-replays/${id}`),
      pause: (id: number) => request<BulkReplayView>("POST", `bulk-replays/${id}/pause`),
      resume: (id: number) => request<BulkReplayView>("POST", `bulk-replays/${id}/resume`),
      /** Ends it for good. */
      cancel: (id: number) => request<BulkReplayView>("POST", `bulk-replays/${id}/cancel`),
    },
  };
}

function sourceMethods(request: SendRequest) {
  return {
    sources: {
      /** Endpoint URLs, secrets and event types. */
      list: () => request<SourcesView>("GET", "sources"),
      /**
       * Whether the addresses of a source lead to a receiver of this database; it may take ten seconds.
       * @param source one of the items of the list, or `oauth` for its redirect address
       */
      check: (source: string) => request<EndpointCheckView>("POST", `sources/${pathSegment(source)}/check`),
    },
    /** Outside production; there every one of them is refused with 404. */
    sandbox: {
      /** An event of each type, to begin with. */
      get: () => request<SandboxView>("GET", "sandbox"),
      /** Signs a callback with the receiver's own secrets and sends it to its public listener. */
      send: (body: SandboxRequest) => request<SandboxResultView>("POST", "sandbox/events", { body }),
      /** Signs in at the sandbox platform as a browser does. */
      runOAuthFlow: () => request<SandboxFlowView>("POST", "sandbox/oauth"),
    },
  };
}

/** Every item of a list, page after page, from the newest on. */
export async function* paginate<Item>(
  list: (paging: PageParams) => Promise<PageOf<Item>>,
): AsyncGenerator<Item, void, void> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: PageOf<Item> = await list(cursor === undefined ? {} : { cursor });
    yield* page.items;
    cursor = page.next_cursor;
  }
}

/** One segment of an address. */
function pathSegment(text: string): string {
  return encodeURIComponent(toPathSegment(text));
}
