import type * as api from "../admin/index.ts";
import { toPathSegment } from "../domain/index.ts";
import { backfillMethods } from "./backfill-methods.ts";
import { readLive } from "./live.ts";
import { type AdminClientOptions, createRequests, type Requests, urlOf } from "./request.ts";
import { settingsMethods } from "./settings-methods.ts";

/** `limit`: from 1 to 200, 50 when left out; `cursor`: the `next_cursor` of the page before. */
export type PageParams = api.InputOf<typeof api.PAGE_QUERY>;

/**
 * Selects callbacks; an absent field matches all. Times are in ISO 8601 with their zone. A status is a number or a
 * class such as `4xx`. Outcomes are separated by commas.
 */
export type CallbackFilters = Omit<api.InputOf<typeof api.CALLBACK_FILTER>, "status"> & {
  readonly status?: string | number | undefined;
};

/** The key of a failure or record. */
export type EventKey = api.InputOf<typeof api.EVENT_PARAMS>;

/** Selects failures; an absent field matches all. `code`: one of docs/errors.md. */
export type FailureFilter = api.InputOf<typeof api.FAILURE_FILTER>;

/**
 * Selects handled events to run again. `source` stands for its tenants too: `stripe`, `stripe#audit`, `shops/acme`. Times
 * are those at which they were handled, in ISO 8601 with their zone.
 */
export interface HandledFilter extends Pick<api.InputOf<typeof api.BULK_FILTER>, "event_type" | "from" | "to"> {
  readonly source: string;
}

export interface HandledReplay {
  readonly filter: HandledFilter;
  readonly reason: string;
  /** From 1 to 100; 10 when left out. */
  readonly per_second?: number | undefined;
}

/** Selects records of handled events. `source`: exactly this one, so `stripe` leaves out those of `stripe#audit`. */
export type EventFilter = api.InputOf<typeof api.EVENT_FILTER>;

/** One alert. `subject`: the event type; empty or left out where the alert is on the whole source. */
export type AlertKey = Pick<api.AlertView, "kind" | "source"> & { readonly subject?: string | undefined };

/** Selects problems; an absent field matches all. */
export interface ProblemFilter {
  readonly state?: api.ProblemView["state"] | undefined;
  readonly source?: string | undefined;
  readonly kind?: api.ProblemView["kind"] | undefined;
}

/**
 * The admin API with its types, for scripts and pages: it needs only `fetch`. Every method throws AdminError where the
 * receiver refuses, and the error of `fetch` where it does not respond.
 */
export type AdminClient = ReturnType<typeof createAdminClient>;

/**
 * @param options the origin of the admin listener, such as `http://127.0.0.1:8081`, and the token. A page of that origin
 *   needs neither, since the browser has the session's cookie
 */
export function createAdminClient(options: AdminClientOptions) {
  const requests = createRequests(options);
  const { request, open } = requests;
  return {
    ...accessMethods(requests),
    ...failureMethods(requests, options),
    ...sourceMethods(requests),
    ...problemMethods(requests),
    ...erasureMethods(requests),
    ...backfillMethods(requests),
    ...settingsMethods(requests),
    callbacks: {
      /** The callback log, newest first. A page may have few items, or none, and still a cursor that goes on looking. */
      list: (query: PageParams & CallbackFilters = {}) => request<api.CallbackPage>("GET", "callbacks", { query }),
      get: (id: number) => request<api.CallbackView>("GET", `callbacks/${id}`),
      /** The URL at which a signed-in browser downloads all matching callbacks, as NDJSON or CSV. */
      exportUrl: (filters: CallbackFilters = {}, format: "ndjson" | "csv" = "ndjson") =>
        urlOf(options, "callbacks/export", { format, ...filters }),
    },
    /**
     * Callbacks as they are answered, with a tally every two seconds, until the signal. A broken connection is opened
     * again, and continues with the callbacks that it missed.
     * @throws the error of a request if the first connection fails, or a later one is refused
     */
    live: (filters: CallbackFilters = {}, { signal }: { readonly signal?: AbortSignal } = {}) =>
      readLive((headers, ends) => open("GET", "live", { query: filters, headers, signal: ends }), signal),
    search: {
      /**
       * Callbacks by any value: whole values first, then beginnings, then texts. A page may have few items, or none, and still a
       * cursor that goes on looking.
       * @param signal ends the request: a search that waits for others leaves their queue
       */
      find: (query: api.InputOf<typeof api.SEARCH_QUERY>, options: { readonly signal?: AbortSignal } = {}) =>
        request<api.SearchPageView>("GET", "search", { query, ...options }),
      /** Ways to go on with what has been typed so far. */
      suggest: (q: string) =>
        request<{ readonly items: readonly api.SuggestionView[] }>("GET", "search/suggestions", { query: { q } }),
    },
    /** @param source of which `buckets` and `totals` are; undefined for all */
    overview: (span: api.OverviewView["span"] = "hour", source?: string) =>
      request<api.OverviewView>("GET", "overview", { query: { span, ...(source !== undefined && { source }) } }),
    events: {
      /** Newest first. A page may have few items, or none, and still a cursor that goes on looking. */
      list: (query: PageParams & EventFilter = {}) => request<api.PageOf<api.EventView>>("GET", "events", { query }),
      /** One event and its timeline, oldest first. @param query.cursor a `timeline_cursor` */
      get: (source: string, event_id: string, query: PageParams = {}) =>
        request<api.EventHistoryView>("GET", `events/${eventPath({ source, event_id })}`, { query }),
      /** Runs a handled event again; its result replaces the one of its record. @param reason for the audit log */
      replay: (key: EventKey, reason: string) =>
        request<api.ReplayView>("POST", `events/${eventPath(key)}/replay`, { body: { reason } }),
      /** Shows what running a handled event again would do, and changes nothing. */
      dryRun: (key: EventKey) =>
        request<api.ReplayView>("POST", `events/${eventPath(key)}/replay`, { query: { dry_run: true }, body: {} }),
    },
    notifications: {
      list: (query: PageParams & { readonly state?: "waiting" | "delivered" | "dead" | undefined } = {}) =>
        request<api.PageOf<api.NotificationRowView>>("GET", "notifications", { query }),
      replay: (id: number) =>
        request<{ deliveries: number; not_configured: string[] }>("POST", `notifications/${id}/replay`),
      /** The waiting and failed deliveries, of one channel or of all. */
      discard: (id: number, query: { readonly channel?: string | undefined } = {}) =>
        request<{ deliveries: number }>("DELETE", `notifications/${id}`, { query }),
    },
    ...alertMethods(requests),
    users: {
      /** Ends a user's authorization, at the platform and here; with `local_only` only here. */
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

function alertMethods({ request }: Requests) {
  return {
    alerts: {
      /** Those that have started, the open ones first, and the kinds that are on. */
      list: () => request<api.AlertListView>("GET", "alerts"),
      /** No notification of it until then. @param body.until in ISO 8601, at most 30 days ahead */
      mute: (body: AlertKey & { readonly until: string; readonly reason: string }) =>
        request<api.AlertView>("POST", "alerts/mute", { body }),
      /** The next evaluation reports how it is. */
      unmute: (body: AlertKey) => request<api.AlertView>("POST", "alerts/unmute", { body }),
    },
  };
}

function erasureMethods({ request }: Requests) {
  return {
    erasures: {
      /** Erases the payloads of all events that have the value at the path. It reads all that is stored: allow for time. */
      start: (body: { readonly path: string; readonly value: string }, query: { readonly dry_run?: boolean } = {}) =>
        request<api.ErasureView>("POST", "erasures", { query, body }),
    },
  };
}

function accessMethods({ request }: Requests) {
  return {
    session: {
      methods: () => request<api.SignInView>("GET", "sign-in"),
      start: (body: { readonly token: string }) => request<api.SessionView>("POST", "session", { body }),
      /** The current session; AdminError with status 401 if not signed in. */
      get: () => request<api.SessionView>("GET", "session"),
      end: () => request<undefined>("DELETE", "session"),
    },
    audit: {
      list: (query: PageParams & { readonly action?: string; readonly actor?: string } = {}) =>
        request<api.PageOf<api.AuditEntryView>>("GET", "audit", { query }),
    },
  };
}

function failureMethods({ request }: Requests, options: AdminClientOptions) {
  return {
    failures: {
      list: (query: PageParams & FailureFilter & { readonly event_id?: string | undefined } = {}) =>
        request<api.PageOf<api.FailureView>>("GET", "failures", { query }),
      /** The URL at which a signed-in browser downloads all matching failures, as NDJSON or CSV. */
      exportUrl: (filter: FailureFilter = {}, format: "ndjson" | "csv" = "ndjson") =>
        urlOf(options, "failures/export", { format, ...filter }),
      /** Runs a failed event now; `dry_run` rolls everything back and shows the result. */
      replay: (key: EventKey, query: { readonly dry_run?: boolean } = {}) =>
        request<api.ReplayView>("POST", `failures/${eventPath(key)}/replay`, { query }),
      discard: (key: EventKey) => request<undefined>("DELETE", `failures/${eventPath(key)}`),
    },
    bulkReplays: {
      /** Replays all failures that the filter finds now. @param body.per_second from 1 to 100; 10 when left out */
      start: (body: { readonly filter: FailureFilter; readonly per_second?: number | undefined }) =>
        request<api.BulkReplayView>("POST", "bulk-replays", { body }),
      /** Runs all handled events that the filter finds now again, each once. @param body.reason for the audit log */
      startHandled: (body: HandledReplay) =>
        request<api.BulkReplayView>("POST", "bulk-replays", { body: { scope: "events", ...body } }),
      /** How many those are, and what running the first one would do. */
      dryRunHandled: (filter: HandledFilter) =>
        request<api.BulkReplayTrialView>("POST", "bulk-replays", {
          query: { dry_run: true },
          body: { scope: "events", filter },
        }),
      /** The handled events that it did not run, newest first. */
      unreplayed: (id: number, query: PageParams & { readonly kind?: "failed" | "skipped" | undefined } = {}) =>
        request<api.PageOf<api.UnreplayedEventView>>("GET", `bulk-replays/${id}/events`, { query }),
      list: (query: PageParams = {}) => request<api.PageOf<api.BulkReplayView>>("GET", "bulk-replays", { query }),
      get: (id: number) => request<api.BulkReplayView>("GET", `bulk-replays/${id}`),
      pause: (id: number) => request<api.BulkReplayView>("POST", `bulk-replays/${id}/pause`),
      resume: (id: number) => request<api.BulkReplayView>("POST", `bulk-replays/${id}/resume`),
      /** Ends it for good. */
      cancel: (id: number) => request<api.BulkReplayView>("POST", `bulk-replays/${id}/cancel`),
    },
  };
}

function problemMethods({ request }: Requests) {
  return {
    problems: {
      /** Problems by their cause: the open ones first, the most frequent at the head. */
      list: (query: ProblemFilter = {}) => request<api.ProblemListView>("GET", "problems", { query }),
      /** One problem and a page of its events, newest first. */
      get: (id: string, query: PageParams = {}) =>
        request<api.ProblemDetailView>("GET", `problems/${pathSegment(id)}`, { query }),
      /** Makes all failed deliveries of a problem due again. */
      deliver: (id: string) => request<{ deliveries: number }>("POST", `problems/${pathSegment(id)}/deliver`),
      /** Sends no alert for it until a time. @param body.until in ISO 8601 */
      mute: (id: string, body: { readonly until: string; readonly reason: string }) =>
        request<api.ProblemView>("POST", `problems/${pathSegment(id)}/mute`, { body }),
      unmute: (id: string) => request<api.ProblemView>("POST", `problems/${pathSegment(id)}/unmute`),
    },
  };
}

function sourceMethods({ request }: Requests) {
  return {
    sources: {
      list: () => request<api.SourcesView>("GET", "sources"),
      /** The last hour of each source. */
      health: () => request<{ readonly items: readonly api.SourceHealthView[] }>("GET", "sources/health"),
      /** Its latency over time, against its platform's deadline, and its slowest callbacks. */
      history: (source: string, span: api.SourceHistoryView["span"] = "day") =>
        request<api.SourceHistoryView>("GET", `sources/${pathSegment(source)}/history`, { query: { span } }),
      /** Its ignored events by type, its reconciliation, and its last endpoint check. */
      details: (source: string) => request<api.SourceDetailsView>("GET", `sources/${pathSegment(source)}/details`),
      /**
       * Whether the addresses of a source lead to a receiver of this database; it may take ten seconds.
       * @param source one of the items of the list, or `oauth` for its redirect address
       */
      check: (source: string) => request<api.EndpointCheckView>("POST", `sources/${pathSegment(source)}/check`),
      /** When the secrets of each tenant were used, of a source with secrets for each tenant. */
      tenants: (source: string, query: PageParams & { readonly tenant?: string | undefined } = {}) =>
        request<api.PageOf<api.TenantView>>("GET", `sources/${pathSegment(source)}/tenants`, { query }),
      /** Takes one more secret from a platform that chooses it itself. @param body.forget deletes those before it */
      relearn: (source: string, body: api.RelearnRequest = {}) =>
        request<api.RelearnView>("POST", `sources/${pathSegment(source)}/relearn`, { body }),
    },
    /** Outside production; in production each of them is refused with 404. */
    sandbox: {
      get: () => request<api.SandboxView>("GET", "sandbox"),
      /** Signs a callback with the receiver's secrets and sends it to its public listener. */
      send: (body: api.SandboxRequest) => request<api.SandboxResultView>("POST", "sandbox/events", { body }),
      /** The body of a callback in the shape of a source's platform. */
      sample: (source: string, type: string) =>
        request<api.SandboxSampleView>("GET", `sandbox/sources/${pathSegment(source)}/samples/${pathSegment(type)}`),
      /** Signs a callback as a source's platform does and sends it to the public listener. */
      sendAs: (source: string, body: api.SandboxSourceRequest) =>
        request<api.SandboxResultView>("POST", `sandbox/sources/${pathSegment(source)}/events`, { body }),
      /** Signs in at the sandbox platform as a browser does. */
      runOAuthFlow: () => request<api.SandboxFlowView>("POST", "sandbox/oauth"),
    },
  };
}

/** Every item of a list, page after page, from the newest on. */
export async function* paginate<Item>(
  list: (paging: PageParams) => Promise<api.PageOf<Item>>,
): AsyncGenerator<Item, void, void> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: api.PageOf<Item> = await list(cursor === undefined ? {} : { cursor });
    yield* page.items;
    cursor = page.next_cursor;
  }
}

function eventPath({ source, event_id }: EventKey): string {
  return `${pathSegment(source)}/${pathSegment(event_id)}`;
}

function pathSegment(text: string): string {
  return encodeURIComponent(toPathSegment(text));
}
