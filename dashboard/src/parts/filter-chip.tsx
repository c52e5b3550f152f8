import "./filter-chip.css";
import { Popover, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { Icon } from "./icon.tsx";

interface Props {
  readonly label: string;
  readonly value: string | undefined;
  /** Values that the receiver knows; any other may be typed. */
  readonly options: readonly string[];
  readonly apply: (value: string | undefined) => void;
  /** A value in the words of the page; the value itself where it is left out. */
  readonly labelOf?: ((value: string) => string) | undefined;
}

const asItIs = (value: string) => value;

/** One filter. Open, it has a field that completes what is typed. */
export function FilterChip({ label, value, options, apply, labelOf = asItIs }: Props) {
  const [typed, setTyped] = useState("");
  const fitting = options.filter((one) =>
    [one, labelOf(one)].some((text) => text.toLowerCase().includes(typed.toLowerCase())),
  );
  const shown = value === undefined ? undefined : labelOf(value);
  return (
    <Chip label={label} value={shown} clear={() => apply(undefined)}>
      {(close) => {
        const choose = (chosen: string) => {
          apply(chosen === "" ? undefined : chosen);
          setTyped("");
          close();
        };
        return (
          <form
            onSubmit={(event: FormEvent) => {
              event.preventDefault();
              choose(options.find((one) => labelOf(one) === typed.trim()) ?? typed.trim());
            }}
          >
            <TextInput
              aria-label={label}
              placeholder={shown ?? `${label}…`}
              value={typed}
              onChange={({ currentTarget }) => setTyped(currentTarget.value)}
              data-autofocus
              autoComplete="off"
            />
            <ul className="chip-options">
              {fitting.map((one) => (
                <li key={one}>
                  <button type="button" aria-pressed={one === value} onClick={() => choose(one)}>
                    {labelOf(one)}
                    {one === value && <Icon name="check" size={14} />}
                  </button>
                </li>
              ))}
            </ul>
          </form>
        );
      }}
    </Chip>
  );
}

interface ChipProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly clear: () => void;
  readonly children: (close: () => void) => ReactNode;
}

/** A button that opens a small form; with a value also one that removes it. */
export function Chip({ label, value, clear, children }: ChipProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <span className="chip" data-set={value !== undefined}>
      <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus shadow="md" width={240}>
        <Popover.Target>
          <button type="button" onClick={() => setOpen(!isOpen)}>
            {value === undefined ? <Icon name="add" size={12} /> : null}
            {label}
            {value !== undefined && <strong>{value}</strong>}
          </button>
        </Popover.Target>
        <Popover.Dropdown p="xs" aria-label={label}>
          {children(() => setOpen(false))}
        </Popover.Dropdown>
      </Popover>
      {value !== undefined && (
        <button type="button" aria-label={`Remove ${label}`} onClick={clear}>
          <Icon name="close" size={12} />
        </button>
      )}
    </span>
  );
}
