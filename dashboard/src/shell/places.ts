import type { SessionView } from "oncehook/admin-client";
import type { IconName } from "../parts/icon.tsx";

interface PlaceShape {
  readonly label: string;
  readonly icon: IconName;
  /** Its pages, as tabs; the place's link leads to the first one. */
  readonly pages: readonly { readonly to: string; readonly label: string }[];
}

/** The five places of the page, in the order of how often they are needed. */
export const PLACES = [
  { label: "Overview", icon: "overview", pages: [{ to: "/", label: "Overview" }] },
  {
    label: "Activity",
    icon: "activity",
    pages: [{ to: "/activity", label: "Activity" }],
  },
  {
    label: "Problems",
    icon: "problems",
    pages: [
      { to: "/problems", label: "Problems" },
      { to: "/problems/replays", label: "Bulk replays" },
      { to: "/problems/backfills", label: "Backfills" },
    ],
  },
  {
    label: "Sources",
    icon: "sources",
    pages: [
      { to: "/sources", label: "Sources" },
      { to: "/sandbox", label: "Sandbox" },
    ],
  },
  {
    label: "Settings",
    icon: "settings",
    pages: [
      { to: "/settings", label: "Configuration" },
      { to: "/settings/checks", label: "Checks" },
      { to: "/settings/storage", label: "Storage" },
      { to: "/settings/background", label: "Background work" },
      { to: "/settings/alerts", label: "Alerts" },
      { to: "/settings/audit", label: "Audit log" },
    ],
  },
] as const satisfies readonly PlaceShape[];

export type Place = (typeof PLACES)[number];

/** The place of an address; undefined for a page of no place. @param pathname below the page's base path */
export function placeOf(pathname: string): Place | undefined {
  return PLACES.find(({ pages }) => pages.some(({ to }) => to === pathname || isBelow(pathname, to)));
}

/** The page of a place that has this address: the list of problems has that of each problem. */
export function pageOf(pages: ReturnType<typeof pagesOf>, pathname: string): string | undefined {
  const fitting = pages.map(({ to }) => to).filter((to) => to === pathname || isBelow(pathname, to));
  return fitting.toSorted((one, other) => other.length - one.length)[0];
}

/** The pages of a place that this session has: the sandbox exists only outside production. */
export function pagesOf({ pages }: Place, { sandbox }: Pick<SessionView, "sandbox">) {
  return [...pages].filter(({ to }) => sandbox || to !== "/sandbox");
}

/** Such as a problem below the list of problems; every address is below that of the overview. */
function isBelow(pathname: string, to: string): boolean {
  return to !== "/" && pathname.startsWith(`${to}/`);
}
