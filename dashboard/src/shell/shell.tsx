import { AppShell, Burger, NavLink, type NavLinkProps } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { createLink, Outlet, useLocation } from "@tanstack/react-router";
import { type AnchorHTMLAttributes, type Ref, useEffect, useRef } from "react";
import { IS_IN_APPLICATION } from "../mount.ts";
import { isRunning, useReplays } from "../pages/problems/use-replays.ts";
import { Icon } from "../parts/icon.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { useIsSignedIn, useSession } from "../session.ts";
import { Brand } from "./brand.tsx";
import { ConnectionBanner, ConnectionDot } from "./connection.tsx";
import { EnvironmentBadge } from "./environment-badge.tsx";
import { NoAccess } from "./no-access.tsx";
import { PLACES, pageOf, pagesOf, placeOf } from "./places.ts";
import { PROBLEM_COUNT } from "./problem-count.ts";
import { SearchBox } from "./search-box.tsx";
import { SessionMenu } from "./session-menu.tsx";
import { ZoneSwitch } from "./zone-switch.tsx";

interface ItemProps
  extends Omit<NavLinkProps, "vars">,
    Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof NavLinkProps> {
  readonly ref?: Ref<HTMLAnchorElement>;
}

const NavigationLink = createLink(({ ref, ...props }: ItemProps) => <NavLink ref={ref} {...props} />);

/** The frame of every page: search, environment, time zone and session above, the five places at the left. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const { environment } = useSession();
  if (!useIsSignedIn() && IS_IN_APPLICATION) return <NoAccess />;
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 184, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding={0}
      transitionDuration={0}
    >
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <AppShell.Header className={environment === "production" ? "top-bar production" : "top-bar"}>
        <Burger
          opened={isOpen}
          onClick={toggle}
          hiddenFrom="sm"
          size="sm"
          aria-label="Navigation"
          aria-expanded={isOpen}
        />
        <Brand />
        <EnvironmentBadge environment={environment} />
        <SearchBox />
        <ZoneSwitch />
        <ConnectionDot />
        <SessionMenu />
      </AppShell.Header>
      <AppShell.Navbar className="places" aria-label="Pages">
        <Places close={close} />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <ConnectionBanner />
        <Tabs />
        <div className="page">
          <Outlet />
        </div>
      </AppShell.Main>
    </AppShell>
  );
}

function Places({ close }: { readonly close: () => void }) {
  const current = placeOf(useLocation().pathname);
  const { data: problems = 0 } = useQuery(PROBLEM_COUNT);
  return PLACES.map((place) => (
    <NavigationLink
      key={place.label}
      to={place.pages[0].to}
      label={place.label}
      active={place === current}
      aria-current={place === current ? "page" : undefined}
      leftSection={<Icon name={place.icon} />}
      rightSection={place.label === "Problems" && problems > 0 && <Count of={problems} />}
      onClick={close}
    />
  ));
}

const MAX_COUNT = 999;

function Count({ of }: { readonly of: number }) {
  return <span className="count">{of > MAX_COUNT ? `${MAX_COUNT}+` : of}</span>;
}

/** The pages of the place, where it has several; that of this one is in sight on a telephone, too. */
function Tabs() {
  const session = useSession();
  const { pathname } = useLocation();
  const place = placeOf(pathname);
  const tabs = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address has another tab.
  useEffect(() => {
    const list = tabs.current;
    const tab = list?.querySelector<HTMLElement>("[aria-current]");
    // Not by scrollIntoView, after which the keyboard would begin at the tab instead of at the top of the page.
    if (tab != null) list?.scrollTo({ left: tab.offsetLeft - (list.clientWidth - tab.offsetWidth) / 2 });
  }, [pathname]);
  if (place === undefined) return null;
  const pages = pagesOf(place, session);
  if (pages.length < 2) return null;
  const current = pageOf(pages, pathname);
  return (
    <nav ref={tabs} className="tabs" aria-label="Pages of this place">
      {pages.map(({ to, label }) => (
        <PageLink
          key={to}
          to={to}
          underline="never"
          // The page of a source belongs to the list.
          activeOptions={{ exact: to !== current, includeSearch: false }}
          activeProps={{ "aria-current": "page" }}
        >
          {label}
          {to === "/problems/replays" && <RunningReplays />}
        </PageLink>
      ))}
    </nav>
  );
}

function RunningReplays() {
  const { data = [] } = useReplays();
  const running = data.filter(isRunning).length;
  return running > 0 && ` (${running} running)`;
}
