import type {
  AuditEntryView,
  BulkReplayView,
  CallbackView,
  EventHistoryView,
  EventView,
  FailureView,
  FoundPage,
  NotificationView,
  OverviewView,
  PageOf,
  ReachView,
  ReplayView,
  SandboxExchangeView,
  SandboxFlowView,
  SandboxSending,
  SandboxView,
  SessionView,
  SignInView,
  SourcesView,
} from "../admin/index.ts";
import { asSegment } from "../domain/index.ts";
import { type LiveOptions, readLive } from "./live.ts";
import { addressOf, createOpen, createRequest, type Options, type Request } from "./request.ts";

/** What every list takes. */
export interface Paging {
  /** From 1 to 200; 50 when left out. */
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Which callbacks are meant; what is left out does not matter. */
export interface CallbackFilters {
  /** ISO 8601 with its time zone. */
  readonly from?: string;
  readonly to?: string;
  readonly source?: string;
  readonly event_type?: string;
  /** A number, or a class such as `4xx`. */
  readonly status?: string | number;
  /** One, or several separated by commas. */
  readonly outcome?: string;
  readonly remote_address?: string;
  readonly event_id?: string;
  /** A part of the masked body. */
  readonly text?: string;
}

/** Whose failure, or record, it is. */
export interface EventKey {
  readonly source: string;
  readonly event_id: string;
}

/** Which failures are meant: those that have all of it. */
export interface FailureFilter {
  readonly state?: FailureView["state"];
  readonly source?: string;
  readonly event_type?: string;
  /** A code of docs/errors.md. */
  readonly code?: string;
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
export function createAdminClient(options: Options) {
  const request = createRequest(options);
  const open = createOpen(options);
  return {
    ...accessOf(request),
    ...failuresOf(request),
    ...sourcesOf(request),
    callbacks: {
      /** The callback log, newest first. A page may have few items, or none, and still a cursor that goes on looking. */
      list: (query: Paging & CallbackFilters = {}) => request<FoundPage>("GET", "callbacks", { query }),
      get: (id: number) => request<CallbackView>("GET", `callbacks/${id}`),
      /** Where a browser that is signed in downloads all that matches, as NDJSON or CSV. */
      exportUrl: (filters: CallbackFilters = {}, format: "ndjson" | "csv" = "ndjson") =>
        addressOf(options, "callbacks/export", { format, ...filters }),
    },
    /**
     * Callbacks as they are answered, with a tally every two seconds, until the signal. A connection that breaks is opened
     * again, and what came meanwhile is brought up.
     * @throws what a request throws where it cannot be opened at first, or is refused later
     */
    live: (filters: CallbackFilters = {}, given: LiveOptions = {}) =>
      readLive((headers, signal) => open("live", { query: filters, headers, signal }), given),
    /** How callbacks ended and how long they took, and what needs a person. */
    overview: (span: OverviewView["span"] = "hour") =>
      request<OverviewView>("GET", "overview", { query: { span } }),
    events: {
      /** The records of processed events, newest first. */
      list: (query: Paging & { readonly event_id?: string } = {}) =>
        request<PageOf<EventView>>("GET", "events", { query }),
      /** One event, with everything that happened to it, oldest first. @param query.cursor a `timeline_cursor` */
      get: (source: string, event_id: string, query: Paging = {}) =>
        request<EventHistoryView>("GET", `events/${segmentOf(source)}/${segmentOf(event_id)}`, { query }),
    },
    notifications: {
      list: (query: Paging & { readonly state?: "waiting" | "delivered" | "dead" } = {}) =>
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
        request<undefined>("DELETE", `users/${segmentOf(userId)}/tokens`, { query }),
    },
    oauth: {
      /** Tells of a flow that somebody started. @param body.expires_in seconds; 600 when left out */
      expectState: (body: { readonly state: string; readonly expires_in?: number }) =>
        request<{ expires_at: string }>("POST", "oauth/states", { body }),
    },
  };
}

function accessOf(request: Request) {
  return {
    session: {
      /** How one can sign in. */
      methods: () => request<SignInView>("GET", "sign-in"),
      /** Signs in with a token; the browser keeps the cookie. */
      begin: (body: { readonly token: string }) => request<SessionView>("POST", "session", { body }),
      /** Who one is; AdminError with status 401 for somebody who is not signed in. */
      get: () => request<SessionView>("GET", "session"),
      /** Signs out. */
      end: () => request<undefined>("DELETE", "session"),
    },
    audit: {
      /** Who did what, newest first. */
      list: (query: Paging & { readonly action?: string; readonly who?: string } = {}) =>
        request<PageOf<AuditEntryView>>("GET", "audit", { query }),
    },
  };
}

function failuresOf(request: Request) {
  const failure = ({ source, event_id }: EventKey) => `failures/${segmentOf(source)}/${segmentOf(event_id)}`;
  return {
    failures: {
      list: (query: Paging & FailureFilter & { readonly event_id?: string } = {}) =>
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
      list: (query: Paging = {}) => request<PageOf<BulkReplayView>>("GET", "bulk-replays", { query }),
      get: (id: number) => request<BulkReplayView>("GET", `bulk-replays/${id}`),
      pause: (id: number) => request<BulkReplayView>("POST", `bulk-replays/${id}/pause`),
      resume: (id: number) => request<BulkReplayView>("POST", `bulk-replays/${id}/resume`),
      /** Ends it for good. */
      cancel: (id: number) => request<BulkReplayView>("POST", `bulk-replays/${id}/cancel`),
    },
  };
}

function sourcesOf(request: Request) {
  return {
    sources: {
      /** What platforms are to register, which secrets they use, and what they may send. */
      list: () => request<SourcesView>("GET", "sources"),
      /**
       * Whether the addresses of a source lead to a receiver of this database; it may take ten seconds.
       * @param source one of the items of the list, or `oauth` for its redirect address
       */
      reach: (source: string) => request<ReachView>("POST", `sources/${segmentOf(source)}/reach`),
    },
    /** Outside production; there every one of them is refused with 404. */
    sandbox: {
      /** An event of each type, to begin with. */
      get: () => request<SandboxView>("GET", "sandbox"),
      /** Signs a callback with the receiver's own secrets and sends it to its public listener. */
      send: (body: SandboxSending) => request<SandboxExchangeView>("POST", "sandbox/events", { body }),
      /** Signs in at the sandbox platform as a browser does. */
      oauth: () => request<SandboxFlowView>("POST", "sandbox/oauth"),
    },
  };
}

/** Every item of a list, page after page, from the newest on. */
export async function* everyOf<Item>(
  list: (paging: Paging) => Promise<PageOf<Item>>,
): AsyncGenerator<Item, void, void> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: PageOf<Item> = await list(cursor === undefined ? {} : { cursor });
    yield* page.items;
    cursor = page.next_cursor;
  }
}

/** One segment of an address. */
function segmentOf(text: string): string {
  return encodeURIComponent(asSegment(text));
}
