import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
  retainSearchParams,
} from "@tanstack/react-router";
import { fromPathSegment, toPathSegment } from "oncehook/admin-client";
import { BASE_PATH, IS_IN_APPLICATION } from "./mount.ts";
import { activitySearch } from "./pages/activity/activity-filters.ts";
import { problemSearch, searchOfFailures } from "./pages/problems/problem-filters.ts";
import { openOf } from "./panel/opened.ts";
import { NotFound, PageError } from "./parts/error-pages.tsx";
import {
  auditSearch,
  backfillSearch,
  configurationSearch,
  overviewSearch,
  parseSearch,
  type Raw,
  sandboxSearch,
  searchText,
  signInSearch,
  stringifySearch,
  zoneSearch,
} from "./search.ts";
import { sessionOf } from "./session.ts";
import { Shell } from "./shell/shell.tsx";

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  // The time zone stays chosen from page to page.
  validateSearch: zoneSearch,
  search: { middlewares: [retainSearchParams(["tz"])] },
  component: Outlet,
  notFoundComponent: NotFound,
});

/** Parts of the list of sources that an address may name, and where its skip links lead. */
const SECTIONS_OF_SOURCES: ReadonlySet<string> = new Set(["oauth", "handlers", "content", "list"]);

/** The sign-in and the sandbox are the server's. */
const onlyOfServer = () => {
  if (IS_IN_APPLICATION) throw notFound();
};

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  beforeLoad: onlyOfServer,
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import("./pages/sign-in-page.tsx"), "SignInPage"),
});

/** All pages but the sign-in: for those who are signed in. */
const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  component: Shell,
  errorComponent: PageError,
  beforeLoad: async ({ context, location, matches }) => {
    // The page's script is on its way while the session is asked for.
    preload(PAGES.filter(({ id }) => matches.some(({ routeId }) => routeId === id)));
    const session = await sessionOf(context.queries);
    if (session === null && !IS_IN_APPLICATION) throw redirect({ to: "/sign-in", search: { back: location.href } });
  },
});

const overview = createRoute({
  getParentRoute: () => inside,
  path: "/",
  validateSearch: overviewSearch,
  component: lazyRouteComponent(() => import("./pages/overview/overview-page.tsx"), "OverviewPage"),
});
const activity = createRoute({
  getParentRoute: () => inside,
  path: "/activity",
  validateSearch: activitySearch,
  component: lazyRouteComponent(() => import("./pages/activity/activity-page.tsx"), "ActivityPage"),
});

/** Addresses of earlier versions, which links in mails and messages have: each leads to where its content is now. */
const callbacks = createRoute({
  getParentRoute: () => inside,
  path: "/callbacks",
  validateSearch: activitySearch,
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/activity", search, replace: true });
  },
});
const callback = createRoute({
  getParentRoute: () => inside,
  path: "/callbacks/$id",
  beforeLoad: ({ params: { id } }) => {
    throw redirect({ to: "/activity", search: { open: id }, replace: true });
  },
});
interface EventParams {
  readonly source: string;
  readonly event_id: string;
}
const mapped =
  (change: (text: string) => string) =>
  ({ source, event_id }: EventParams): EventParams => ({
    source: change(source),
    event_id: change(event_id),
  });
const event = createRoute({
  getParentRoute: () => inside,
  path: "/events/$source/$event_id",
  // A browser takes `..` away from an address.
  params: { parse: mapped(fromPathSegment), stringify: mapped(toPathSegment) },
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/activity", search: { open: openOf(params) }, replace: true });
  },
});
const refused = createRoute({
  getParentRoute: () => inside,
  path: "/refused",
  validateSearch: activitySearch,
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/activity", search: { outcome: "refused", ...search }, replace: true });
  },
});
const problems = createRoute({
  getParentRoute: () => inside,
  path: "/problems",
  validateSearch: problemSearch,
  component: lazyRouteComponent(() => import("./pages/problems/problems-page.tsx"), "ProblemsPage"),
});
/** The list shows it in its panel. */
const problem = createRoute({ getParentRoute: () => problems, path: "$id" });
const replays = createRoute({
  getParentRoute: () => inside,
  path: "/problems/replays",
  component: lazyRouteComponent(() => import("./pages/problems/replays-page.tsx"), "ReplaysPage"),
});
const replay = createRoute({ getParentRoute: () => replays, path: "$id" });
const backfills = createRoute({
  getParentRoute: () => inside,
  path: "/problems/backfills",
  validateSearch: backfillSearch,
  component: lazyRouteComponent(() => import("./pages/problems/backfills-page.tsx"), "BackfillsPage"),
});
const backfill = createRoute({ getParentRoute: () => backfills, path: "$id" });
const failures = createRoute({
  getParentRoute: () => inside,
  path: "/failures",
  validateSearch: (raw: Raw) => raw,
  beforeLoad: ({ search }) => {
    // The event is accepted, and has not failed.
    if (search.state === "accepted")
      throw redirect({ to: "/activity", search: activitySearch({ ...search, outcome: "accepted" }), replace: true });
    const id = searchText(search.bulk_replay);
    if (id !== undefined) throw redirect({ to: "/problems/replays/$id", params: { id }, replace: true });
    throw redirect({ to: "/problems", search: searchOfFailures(search), replace: true });
  },
});
const bulkReplays = createRoute({
  getParentRoute: () => inside,
  path: "/bulk-replays",
  beforeLoad: () => {
    throw redirect({ to: "/problems/replays", replace: true });
  },
});
const notifications = createRoute({
  getParentRoute: () => inside,
  path: "/notifications",
  beforeLoad: () => {
    throw redirect({ to: "/problems", search: { kind: "delivery" }, replace: true });
  },
});
const sources = createRoute({
  getParentRoute: () => inside,
  path: "/sources",
  // Links of earlier versions name a source behind a hash.
  beforeLoad: ({ location: { hash } }) => {
    if (hash !== "" && !SECTIONS_OF_SOURCES.has(hash))
      throw redirect({ to: "/sources/$name", params: { name: hash }, replace: true });
  },
  component: lazyRouteComponent(() => import("./pages/sources/sources-page.tsx"), "SourcesPage"),
});
const source = createRoute({
  getParentRoute: () => inside,
  path: "/sources/$name",
  validateSearch: overviewSearch,
  component: lazyRouteComponent(() => import("./pages/sources/source-page.tsx"), "SourcePage"),
});
const sandbox = createRoute({
  getParentRoute: () => inside,
  path: "/sandbox",
  validateSearch: sandboxSearch,
  beforeLoad: onlyOfServer,
  component: lazyRouteComponent(() => import("./pages/sandbox/sandbox-page.tsx"), "SandboxPage"),
});
const configuration = createRoute({
  getParentRoute: () => inside,
  path: "/settings",
  validateSearch: configurationSearch,
  component: lazyRouteComponent(() => import("./pages/settings/configuration-page.tsx"), "ConfigurationPage"),
});
const checks = createRoute({
  getParentRoute: () => inside,
  path: "/settings/checks",
  component: lazyRouteComponent(() => import("./pages/settings/checks-page.tsx"), "ChecksPage"),
});
const storage = createRoute({
  getParentRoute: () => inside,
  path: "/settings/storage",
  component: lazyRouteComponent(() => import("./pages/settings/storage-page.tsx"), "StoragePage"),
});
const background = createRoute({
  getParentRoute: () => inside,
  path: "/settings/background",
  component: lazyRouteComponent(() => import("./pages/settings/background-page.tsx"), "BackgroundPage"),
});
const alerts = createRoute({
  getParentRoute: () => inside,
  path: "/settings/alerts",
  component: lazyRouteComponent(() => import("./pages/settings/alerts-page.tsx"), "AlertsPage"),
});
const auditLog = createRoute({
  getParentRoute: () => inside,
  path: "/settings/audit",
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import("./pages/settings/audit-page.tsx"), "AuditPage"),
});
const audit = createRoute({
  getParentRoute: () => inside,
  path: "/audit",
  validateSearch: auditSearch,
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/settings/audit", search, replace: true });
  },
});

const SETTINGS = [configuration, checks, storage, background, alerts, auditLog] as const;
const PAGES = [overview, activity, problems, replays, backfills, sources, source, sandbox, ...SETTINGS] as const;
const EARLIER_ADDRESSES = [callbacks, callback, event, refused, failures, bulkReplays, notifications, audit] as const;

function preload(pages: readonly (typeof PAGES)[number][]): void {
  for (const { options } of pages) void options.component?.preload?.();
}

export function createPages(queries: QueryClient) {
  const router = createRouter({
    routeTree: root.addChildren([
      signIn,
      inside.addChildren([
        ...[overview, activity, sources, source, sandbox],
        problems.addChildren([problem]),
        replays.addChildren([replay]),
        backfills.addChildren([backfill]),
        ...SETTINGS,
        ...EARLIER_ADDRESSES,
      ]),
    ]),
    basepath: BASE_PATH === "" ? "/" : BASE_PATH,
    context: { queries },
    parseSearch,
    stringifySearch,
    defaultErrorComponent: PageError,
    defaultNotFoundComponent: NotFound,
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
  });
  // Behind the first page: one that is opened while the receiver is away has its script already.
  router.subscribe("onResolved", () => {
    if (router.state.matches.some(({ routeId }) => routeId === inside.id)) preload(PAGES);
  });
  return router;
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createPages>;
  }
}
