import "./filter-chip.css";
import { Button, Popover, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Icon } from "./icon.tsx";
import { Problem } from "./page-states.tsx";

const HOUR_MS = 3_600_000;
const TIMES = [
  { label: "For 1 hour", ms: HOUR_MS },
  { label: "For 8 hours", ms: 8 * HOUR_MS },
  { label: "For 1 day", ms: 24 * HOUR_MS },
  { label: "For 7 days", ms: 168 * HOUR_MS },
];
/** The API wants a reason; it is in the audit log. */
const NO_REASON = "muted on the dashboard";

interface Props {
  /** The muted thing, for those who hear a button without its row. */
  readonly name: string;
  readonly isMuted: boolean;
  /** Without its word, for a row. */
  readonly isIcon?: boolean;
  readonly mute: (body: { readonly until: string; readonly reason: string }) => Promise<unknown>;
  readonly unmute: () => Promise<unknown>;
}

/** No notification until a time, in two clicks; or the end of that. */
export function MuteButton({ name, isMuted, isIcon = false, mute, unmute }: Props) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const change = useMutation({
    mutationFn: (ms: number | undefined) => {
      if (ms === undefined) return unmute();
      return mute({ until: new Date(Date.now() + ms).toISOString(), reason: reason.trim() || NO_REASON });
    },
    onSuccess: () => setOpen(false),
    onSettled: () =>
      Promise.all(["problems", "overview", "alerts"].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });
  const word = isMuted ? "Unmute" : "Mute";
  const press = () => (isMuted ? change.mutate(undefined) : setOpen(!isOpen));
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus returnFocus shadow="md" width={240}>
      <Popover.Target>
        {isIcon ? (
          <button
            type="button"
            className="icon-button"
            aria-label={`${word}: ${name}`}
            title={word}
            disabled={change.isPending}
            onClick={press}
          >
            <Icon name={isMuted ? "mute" : "bell"} />
          </button>
        ) : (
          <Button size="compact-sm" variant="default" onClick={press} loading={change.isPending}>
            {word}
          </Button>
        )}
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label="Mute">
        <TextInput
          label="Reason (in the audit log)"
          placeholder="Optional"
          maxLength={500}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
        <ul className="chip-options">
          {TIMES.map(({ label, ms }) => (
            <li key={label}>
              <button type="button" disabled={change.isPending} onClick={() => change.mutate(ms)}>
                {label}
              </button>
            </li>
          ))}
        </ul>
        {change.isError && <Problem error={change.error} title="It could not be muted" />}
      </Popover.Dropdown>
    </Popover>
  );
}
