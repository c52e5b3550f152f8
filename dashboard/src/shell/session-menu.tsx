import { Menu, Text, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { IS_IN_APPLICATION } from "../mount.ts";
import { Icon } from "../parts/icon.tsx";
import { actorName, useSession } from "../session.ts";
import { useSignOut } from "../sign-out.ts";
import { ZoneItems } from "./zone-switch.tsx";

const SCHEMES = [
  { value: "auto", label: "System", icon: "system" },
  { value: "light", label: "Light", icon: "light" },
  { value: "dark", label: "Dark", icon: "dark" },
] as const;

/** The signed-in actor, with the colours and the way out. */
export function SessionMenu() {
  const { actor, role, version } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const name = actorName(actor);
  const leave = useSignOut();
  return (
    // Mantine's own place of the first focus is no item of a menu: the chosen colours take it.
    <Menu position="bottom-end" width={220} shadow="md" withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <UnstyledButton className="session" aria-label={`${name}, ${role}`}>
          <Icon name="user" />
          <span className="session-name">
            {name}, {role}
          </span>
          <Icon name="down" size={12} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <ZoneItems />
        <Menu.Label>Colours</Menu.Label>
        {SCHEMES.map(({ value, label, icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon name={icon} />}
            rightSection={colorScheme === value && <Icon name="check" />}
            data-autofocus={colorScheme === value || undefined}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        {!IS_IN_APPLICATION && (
          <>
            <Menu.Divider />
            <Menu.Item
              leftSection={<Icon name="leave" />}
              closeMenuOnClick={false}
              disabled={leave.isPending}
              onClick={() => leave.mutate()}
            >
              Sign out
            </Menu.Item>
          </>
        )}
        {leave.isError && (
          <Text size="sm" c="error" role="alert" p="sm">
            The session could not be ended; try again.
          </Text>
        )}
        {version !== null && <Menu.Label>Oncehook {version}</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  );
}
