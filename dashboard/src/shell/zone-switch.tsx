import { useNavigate } from "@tanstack/react-router";
import { LOCAL_ZONE, type TimeZone, useTimeZone } from "../parts/time-zone.tsx";

const ZONES = [
  { zone: "local", label: "Local", title: `Times in ${LOCAL_ZONE}` },
  { zone: "utc", label: "UTC", title: "Times in UTC" },
] as const satisfies readonly { readonly zone: TimeZone; readonly label: string; readonly title: string }[];

/** Chooses the zone of all times; the address keeps it, so that a link shows them alike to everyone. */
export function ZoneSwitch() {
  const chosen = useTimeZone();
  const navigate = useNavigate();
  const choose = (zone: TimeZone) =>
    void navigate({
      to: ".",
      search: (search) => ({ ...search, tz: zone === "utc" ? "utc" : undefined }),
      replace: true,
      resetScroll: false,
    });
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
