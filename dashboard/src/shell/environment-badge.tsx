import { Badge } from "@mantine/core";

const COLORS: Readonly<Record<string, string>> = {
  production: "red.9",
  test: "violet.8",
  development: "blue.8",
};

/** Which environment this is; production stands out. */
export function EnvironmentBadge({ environment }: { readonly environment: string | null }) {
  if (environment === null) return null;
  return (
    <Badge color={COLORS[environment] ?? "gray.8"} variant="filled" radius="sm" tt="none">
      {environment}
    </Badge>
  );
}
