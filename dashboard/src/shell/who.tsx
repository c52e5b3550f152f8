import { Button, Group, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { endSession, useSession } from "../session.ts";

/** Who is signed in, as what, and the way out. */
export function Who() {
  const { who, role } = useSession();
  const leave = useMutation({
    mutationFn: endSession,
    // A new page: nothing that was read stays in this one's memory.
    onSuccess: () => window.location.assign("/sign-in"),
  });
  return (
    <Group gap="xs">
      <Text size="sm">
        {who === "token" ? "Admin token" : who}, {role}
      </Text>
      <Button size="compact-sm" variant="default" loading={leave.isPending} onClick={() => leave.mutate()}>
        Sign out
      </Button>
      {leave.isError && (
        <Text size="sm" c="error" role="alert">
          The session could not be ended; try again.
        </Text>
      )}
    </Group>
  );
}
