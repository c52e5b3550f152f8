import { Group, Stack, Text } from "@mantine/core";
import { Copy } from "../../parts/copy.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";
import type { SourceView } from "../../views.ts";
import { ReachCheck } from "./reach-check.tsx";

type Authentication = SourceView["authentication"][number];
type Secret = Authentication["secrets"][number] & Pick<Authentication, "method" | "header">;

const SECRETS: readonly Column<Secret>[] = [
  { head: "Secret", cell: ({ name, is_previous }) => `${name}${is_previous ? " (previous)" : ""}` },
  { head: "Method", cell: ({ method, header }) => `${method}, in ${header}` },
  {
    head: "Last verified a callback",
    cell: ({ last_used_at, advice }) => (
      <>
        {last_used_at === null ? "not yet" : <Time at={last_used_at} relative />}
        {advice !== null && <Text size="sm">{advice}</Text>}
      </>
    ),
  },
];

export function SourceSection({ source: described }: { readonly source: SourceView }) {
  const { source, addresses, authenticated_by, authentication } = described;
  const secrets = authentication.flatMap(({ method, header, secrets }) =>
    secrets.map((secret) => ({ ...secret, method, header })),
  );
  return (
    <Stack component="section" gap="sm" aria-label={`Source ${source}`}>
      <h2>Source {source}</h2>
      <h3>Addresses to register with the platform, to the letter</h3>
      {addresses.map(({ url, version, method, event_types }) => (
        <div key={url}>
          <Group gap="sm">
            <code>{url}</code>
            <Copy text={url} what="the address" />
          </Group>
          <Text size="sm" c="dimmed">
            {method}, {version === "by_header" ? "X-API-Version chooses the version" : version}:{" "}
            {event_types.join(", ")}
          </Text>
        </div>
      ))}
      <ReachCheck source={source} what="they are" />
      <h3>How callbacks are authenticated</h3>
      <Text>{authenticated_by}</Text>
      <Rows
        caption={`Secrets of ${source}`}
        columns={SECRETS}
        rows={secrets}
        keyOf={({ name, method }) => name + method}
      />
    </Stack>
  );
}
