import { AppShell, Burger, Group, NavLink, type NavLinkProps, ScrollArea, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { createLink, Outlet } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, Ref } from "react";
import { useSession } from "../session.ts";
import { destinations } from "./destinations.ts";
import { EnvironmentBadge } from "./environment-badge.tsx";
import { SchemeSwitch } from "./scheme-switch.tsx";
import { Who } from "./who.tsx";

interface ItemProps
  extends Omit<NavLinkProps, "vars">,
    Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof NavLinkProps> {
  readonly ref?: Ref<HTMLAnchorElement>;
}

const NavigationLink = createLink(({ ref, ...props }: ItemProps) => <NavLink ref={ref} {...props} />);

/** What stands around every page: where one is, where one can go, and who one is. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const { environment, version } = useSession();
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 230, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <AppShell.Header className={environment === "production" ? "production" : ""}>
        <Group h="100%" px="md" gap="sm" wrap="nowrap">
          <Burger
            opened={isOpen}
            onClick={toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label="Navigation"
            aria-expanded={isOpen}
          />
          <Text fw={700}>Oncehook</Text>
          <EnvironmentBadge environment={environment} />
          <Group ml="auto" visibleFrom="sm">
            <Who />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Pages">
        <ScrollArea style={{ flex: 1 }} type="auto">
          <Navigation close={close} />
        </ScrollArea>
        <Stack gap="xs" pt="sm">
          <Group hiddenFrom="sm">
            <Who />
          </Group>
          <SchemeSwitch />
          {version !== null && (
            <Text size="xs" c="dimmed">
              Oncehook {version}
            </Text>
          )}
        </Stack>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}

function Navigation({ close }: { readonly close: () => void }) {
  const session = useSession();
  return destinations(session).map(({ to, label }) => (
    <NavigationLink
      key={to}
      to={to}
      label={label}
      onClick={close}
      activeOptions={{ exact: to === "/", includeSearch: false }}
      activeProps={{ active: true }}
    />
  ));
}
