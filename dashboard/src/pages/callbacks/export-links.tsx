import { Anchor, Group, Text } from "@mantine/core";
import type { CallbackFilters } from "oncehook/admin-client";
import { api } from "../../client.ts";

/** Everything that the filters let through, as a file. */
export function ExportLinks({ filters }: { readonly filters: CallbackFilters }) {
  return (
    <Group gap="xs">
      <Text size="sm">Export as</Text>
      {(["ndjson", "csv"] as const).map((format) => (
        <Anchor
          key={format}
          size="sm"
          underline="always"
          href={api.callbacks.exportUrl(filters, format)}
          download={`callbacks.${format}`}
        >
          {format.toUpperCase()}
        </Anchor>
      ))}
    </Group>
  );
}
