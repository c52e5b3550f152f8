import { Menu } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Icon } from "../parts/icon.tsx";
import { LOCAL_ZONE, type TimeZone, useTimeZone } from "../parts/time-zone.tsx";

const ZONES = [
  { zone: "local", label: "Local", title: `Times in ${LOCAL_ZONE}` },
  { zone: "utc", label: "UTC", title: "Times in UTC" },
] as const satisfies readonly { readonly zone: TimeZone; readonly label: string; readonly title: string }[];

/** Chooses the zone of all times; the address keeps it, so that a link shows them alike to everyone. */
function useZoneChoice() {
  const navigate = useNavigate();
  return (zone: TimeZone) =>
    void navigate({
      to: ".",
      search: (search) => ({ ...search, tz: zone === "utc" ? "utc" : undefined }),
      replace: true,
      resetScroll: false,
    });
}

export function ZoneSwitch() {
  const chosen = useTimeZone();
  const choose = useZoneChoice();
  return (
    <fieldset className="switch" aria-label="Time zone">
      {ZONES.map(({ zone, label, title }) => (
        <button key={zone} type="button" title={title} aria-pressed={zone === chosen} onClick={() => choose(zone)}>
          {label}
        </button>
      ))}
    </fieldset>
  );
}

/** The same choice in a menu, where the top bar has no room for the switch. */
export function ZoneItems() {
  const chosen = useTimeZone();
  const choose = useZoneChoice();
  return (
    <>
      <Menu.Label hiddenFrom="sm">Time zone</Menu.Label>
      {ZONES.map(({ zone, label, title }) => (
        <Menu.Item
          key={zone}
          hiddenFrom="sm"
          rightSection={zone === chosen && <Icon name="check" />}
          title={title}
          onClick={() => choose(zone)}
        >
          {label}
        </Menu.Item>
      ))}
    </>
  );
}
