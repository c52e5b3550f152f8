import {
  AppShell,
  Burger,
  Button,
  Group,
  NativeSelect,
  NavLink,
  type NavLinkProps,
  ScrollArea,
  Stack,
  Text,
  useMantineColorScheme,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { createLink, Outlet } from "@tanstack/react-router";
import type { SessionView } from "oncehook/admin-client";
import type { AnchorHTMLAttributes, Ref } from "react";
import { BASE_PATH, IS_IN_APPLICATION } from "../mount.ts";
import { endSession, useIsSignedIn, useSession } from "../session.ts";
import { Connection } from "./connection.tsx";
import { EnvironmentBadge } from "./environment-badge.tsx";
import { NoAccess } from "./no-access.tsx";

interface ItemProps
  extends Omit<NavLinkProps, "vars">,
    Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof NavLinkProps> {
  readonly ref?: Ref<HTMLAnchorElement>;
}

const NavigationLink = createLink(({ ref, ...props }: ItemProps) => <NavLink ref={ref} {...props} />);

/** The frame of every page: navigation, environment and session. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const { environment, version } = useSession();
  if (!useIsSignedIn() && IS_IN_APPLICATION) return <NoAccess />;
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 230, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <a className="skip-link" href="#content">
        Skip to content
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
            <SignedInUser />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Pages">
        <ScrollArea style={{ flex: 1 }} type="auto">
          <Navigation close={close} />
        </ScrollArea>
        <Stack gap="xs" pt="sm">
          <Group hiddenFrom="sm">
            <SignedInUser />
          </Group>
          <ColorSchemeSelect />
          {version !== null && (
            <Text size="xs" c="dimmed">
              Oncehook {version}
            </Text>
          )}
        </Stack>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Connection />
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

/** The navigation, in the order of how often it is needed. */
const ALL = [
  { to: "/", label: "Overview" },
  { to: "/callbacks", label: "Callbacks" },
  { to: "/failures", label: "Failures" },
  { to: "/refused", label: "Refused" },
  { to: "/notifications", label: "Notifications" },
  { to: "/bulk-replays", label: "Bulk replays" },
  { to: "/sources", label: "Sources and handlers" },
  { to: "/sandbox", label: "Sandbox" },
  { to: "/audit", label: "Audit log" },
] as const;

/** The sandbox exists only outside production. */
function destinations({ sandbox }: SessionView) {
  return ALL.filter(({ to }) => sandbox || to !== "/sandbox");
}

const SCHEMES = [
  { value: "auto", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const;

function ColorSchemeSelect() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <NativeSelect
      size="xs"
      aria-label="Colours"
      data={SCHEMES}
      value={colorScheme}
      onChange={({ currentTarget }) => {
        const chosen = SCHEMES.find(({ value }) => value === currentTarget.value);
        if (chosen !== undefined) setColorScheme(chosen.value);
      }}
    />
  );
}

/** The signed-in actor, the role, and the button to sign out, which an application has itself. */
function SignedInUser() {
  const { actor, role } = useSession();
  return (
    <Group gap="xs">
      <Text size="sm">
        {actor === "token" ? "Admin token" : actor}, {role}
      </Text>
      {!IS_IN_APPLICATION && <SignOut />}
    </Group>
  );
}

function SignOut() {
  const leave = useMutation({
    mutationFn: endSession,
    // A full page load: the data of this session leaves the memory.
    onSuccess: () => window.location.assign(`${BASE_PATH}/sign-in`),
  });
  return (
    <>
      <Button size="compact-sm" variant="default" loading={leave.isPending} onClick={() => leave.mutate()}>
        Sign out
      </Button>
      {leave.isError && (
        <Text size="sm" c="error" role="alert">
          The session could not be ended; try again.
        </Text>
      )}
    </>
  );
}
