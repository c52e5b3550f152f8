import { Button, NativeSelect, TextInput } from "@mantine/core";
import type { FormEvent } from "react";

export interface FilterField {
  readonly name: string;
  readonly label: string;
  /** The only values that there are. */
  readonly options?: readonly string[];
  /** Some that there are. */
  readonly suggestions?: readonly string[];
  readonly placeholder?: string;
}

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
    apply(Object.fromEntries(fields.map(({ name }) => [name, typedIn(data.get(name))])));
  };
  return (
    // The fields begin with the filters of the address.
    <form key={JSON.stringify(filters)} onSubmit={submit} className="filters" aria-label="Filters">
      {fields.map((field) => (
        <Field key={field.name} field={field} value={filters[field.name]} />
      ))}
      <Button type="submit" variant="default">
        Apply
      </Button>
      {set > 0 && (
        <Button
          variant="default"
          onClick={() => apply(Object.fromEntries(fields.map(({ name }) => [name, undefined])))}
        >
          Clear
        </Button>
      )}
    </form>
  );
}

function Field({ field, value = "" }: { readonly field: FilterField; readonly value: string | undefined }) {
  const { name, label, options, suggestions, placeholder = "" } = field;
  if (options !== undefined) {
    const data = [{ value: "", label: "any" }, ...options.map((one) => ({ value: one, label: one }))];
    return <NativeSelect name={name} label={label} defaultValue={value} data={data} />;
  }
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

function typedIn(value: FormDataEntryValue | null): string | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" ? undefined : text;
}
