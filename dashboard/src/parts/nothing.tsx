import { Paper, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** In place of an empty list: why it is empty, and what would fill it. */
export function Nothing({ children }: { readonly children: ReactNode }) {
  return (
    <Paper withBorder p="xl" my="md">
      <Text ta="center">{children}</Text>
    </Paper>
  );
}
