import { Button, Group, NativeSelect, SimpleGrid, TextInput } from "@mantine/core";
import type { FormEvent } from "react";

export interface FilterField {
  readonly name: string;
  readonly label: string;
  /** A time of day where the reader is; in the address it is ISO 8601. */
  readonly isTime?: boolean;
  /** The only values that there are. */
  readonly options?: readonly string[];
  /** Some that there are. */
  readonly suggestions?: readonly string[];
  readonly placeholder?: string;
}

const TIME_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

export type Filters = Readonly<Record<string, string | undefined>>;

interface Props {
  readonly fields: readonly FilterField[];
  readonly filters: Filters;
  readonly apply: (filters: Filters) => void;
}

/** Filters of a list. Applied together on submit: one search for all fields. */
export function FilterForm({ fields, filters, apply }: Props) {
  const set = fields.filter(({ name }) => filters[name] !== undefined).length;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const typed = fields.map((field) => {
      const { name } = field;
      return [name, typedIn(field, data.get(name), filters[name])];
    });
    apply(Object.fromEntries(typed));
  };
  return (
    <details className="filters" open={set > 0}>
      <summary>{set === 0 ? "Filters" : `Filters (${set} set)`}</summary>
      {/* The fields begin with the filters of the address. */}
      <form key={JSON.stringify(filters)} onSubmit={submit} aria-label="Filters">
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm" mt="sm">
          {fields.map((field) => (
            <Field key={field.name} field={field} value={filters[field.name]} />
          ))}
        </SimpleGrid>
        <Group mt="sm">
          <Button type="submit">Apply</Button>
          {set > 0 && (
            <Button
              variant="default"
              onClick={() => apply(Object.fromEntries(fields.map(({ name }) => [name, undefined])))}
            >
              Clear
            </Button>
          )}
        </Group>
      </form>
    </details>
  );
}

function Field({ field, value = "" }: { readonly field: FilterField; readonly value: string | undefined }) {
  const { name, label, options, suggestions, placeholder = "" } = field;
  if (options !== undefined) {
    const data = [{ value: "", label: "any" }, ...options.map((one) => ({ value: one, label: one }))];
    return <NativeSelect name={name} label={label} defaultValue={value} data={data} />;
  }
  if (field.isTime === true)
    return (
      <TextInput
        type="datetime-local"
        step={1}
        name={name}
        label={`${label} (${TIME_ZONE})`}
        defaultValue={localOf(value)}
      />
    );
  const list = `suggested-${name}`;
  return (
    <>
      <TextInput
        name={name}
        label={label}
        defaultValue={value}
        placeholder={placeholder}
        list={list}
        autoComplete="off"
      />
      <datalist id={list}>
        {suggestions?.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  );
}

/** @param was the filter of the address */
function typedIn(
  { isTime }: FilterField,
  value: FormDataEntryValue | null,
  was: string | undefined,
): string | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  if (text === "") return undefined;
  return isTime === true ? instantOf(text, was) : text;
}

/** The field has no milliseconds, and one text for two hours when clocks go back. Unchanged, it keeps `was`. */
function instantOf(local: string, was: string | undefined): string {
  const instant = new Date(local).toISOString();
  if (was === undefined || localOf(was) === "") return instant;
  return instant === new Date(localOf(was)).toISOString() ? was : instant;
}

/** As the browser's field for dates and times has it: in the reader's time zone, which it does not name. */
function localOf(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "";
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}
