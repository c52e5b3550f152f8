import { Skeleton, Stack, VisuallyHidden } from "@mantine/core";

/** In place of what is being read. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <Stack gap="sm" my="md" role="status">
      <VisuallyHidden>{`Reading ${what}`}</VisuallyHidden>
      {[1, 2, 3].map((line) => (
        <Skeleton key={line} height={28} />
      ))}
    </Stack>
  );
}
