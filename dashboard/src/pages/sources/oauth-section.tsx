import { Group, Stack, Text } from "@mantine/core";
import type { SourcesView } from "oncehook/admin-client";
import { Copy } from "../../parts/copy.tsx";
import { ReachCheck } from "./reach-check.tsx";

/** What to register with the authorization server. */
export function OAuthSection({ oauth }: { readonly oauth: NonNullable<SourcesView["oauth"]> }) {
  const { redirect_uri, start_url } = oauth;
  return (
    <Stack component="section" gap="xs" aria-labelledby="oauth">
      <h2 id="oauth">OAuth redirect</h2>
      <Text>The address to register with the authorization server, to the letter:</Text>
      <Group gap="sm">
        <code>{redirect_uri}</code>
        <Copy text={redirect_uri} what="the redirect address" />
      </Group>
      <ReachCheck source="oauth" what="it is" />
      <Text size="sm" c="dimmed">
        {start_url === null
          ? "No flow starts here: the platform begins them."
          : `A flow starts at ${start_url}`}
      </Text>
    </Stack>
  );
}
