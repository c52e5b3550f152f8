import { Anchor, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ConfigurationView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { BASE_PATH, IS_IN_APPLICATION } from "../../mount.ts";
import { Facts } from "../../parts/facts.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { configurationSearch } from "../../search.ts";
import "./settings.css";

type Value = ConfigurationView["values"][number];

const route = getRouteApi("/inside/settings");
const ORIGINS: Readonly<Record<Value["origin"], string>> = {
  default: "Default",
  environment: "Environment variables",
  env_file: ".env file",
  generated: "Generated",
  code: IS_IN_APPLICATION ? "Code" : "Configuration file",
};
/** The origin of nearly all values that are set: named once, above them. */
const USUAL = "environment";
const COLUMNS: readonly Column<Value>[] = [
  { head: "Variable", cell: ({ name }) => <code>{name}</code> },
  {
    head: "Value",
    cell: (value) => (
      <>
        <ValueText value={value} />
        {value.origin !== USUAL && <span className="origin"> {ORIGINS[value.origin]}</span>}
      </>
    ),
  },
];

/** The configuration of this process, and where each value comes from. */
export function ConfigurationPage() {
  const { find = "", show } = configurationSearch(route.useSearch());
  const navigate = route.useNavigate();
  const search = (change: { readonly find?: string; readonly show?: "all" | undefined }) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true, resetScroll: false });
  const configuration = useQuery({ queryKey: ["configuration"], queryFn: api.configuration });
  return (
    <>
      <PageTitle title="Configuration">
        <Anchor href={`${BASE_PATH}/api/v1/openapi.json`} target="_blank" rel="noreferrer">
          API reference
        </Anchor>
      </PageTitle>
      {configuration.isPending && <Loading what="the configuration" />}
      {configuration.isError && (
        <Problem
          error={configuration.error}
          title="The configuration could not be read"
          again={() => void configuration.refetch()}
        />
      )}
      {configuration.data !== undefined && (
        <>
          <About configuration={configuration.data} />
          <search className="settings-filter">
            <TextInput
              aria-label="Find a variable"
              placeholder="Find a variable"
              value={find}
              onChange={({ currentTarget }) => search({ find: currentTarget.value })}
            />
            <fieldset className="switch" aria-label="Shown variables">
              <button type="button" aria-pressed={show === undefined} onClick={() => search({ show: undefined })}>
                Set
              </button>
              <button type="button" aria-pressed={show === "all"} onClick={() => search({ show: "all" })}>
                All
              </button>
            </fieldset>
          </search>
          <Groups values={configuration.data.values} find={find} hasDefaults={show === "all"} />
        </>
      )}
    </>
  );
}

function About({ configuration }: { readonly configuration: ConfigurationView }) {
  const { environment, version } = configuration;
  return (
    <Facts
      isShort
      of={[
        ["Environment", environment],
        ["Version", version],
        ["Set by", `${ORIGINS[USUAL]}, where no other origin is named`],
      ]}
    />
  );
}

interface GroupsProps {
  readonly values: readonly Value[];
  readonly find: string;
  readonly hasDefaults: boolean;
}

function Groups({ values, find, hasDefaults }: GroupsProps) {
  const text = find.trim().toLowerCase();
  const isFound = ({ name, value }: Value) => `${name} ${value ?? ""}`.toLowerCase().includes(text);
  const shown = values.filter((value) => (hasDefaults || value.origin !== "default") && isFound(value));
  const groups = Map.groupBy(shown, ({ group }) => group);
  if (shown.length === 0)
    return (
      <EmptyState>
        {hasDefaults ? "No variable has this text." : "No variable that is set has this text; All has the defaults."}
      </EmptyState>
    );
  return [...groups].map(([group, rows]) => (
    <section key={group} className="settings-group settings-values" aria-label={group}>
      <h2>{group}</h2>
      <Rows caption={`${group}: variables`} columns={COLUMNS} rows={rows} keyOf={({ name }) => name} />
    </section>
  ));
}

function ValueText({ value: { value, is_secret, origin, default_text } }: { readonly value: Value }) {
  if (is_secret && origin !== "default") return <span className="quiet">•••••••• secret</span>;
  if (value === null || value === "") return <span className="quiet">{default_text ?? "not set"}</span>;
  return <code className={origin === "default" ? "quiet" : undefined}>{value}</code>;
}
