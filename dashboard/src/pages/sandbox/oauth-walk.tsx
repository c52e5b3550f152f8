import { Button, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { patientApi } from "../../client.ts";
import { milliseconds } from "../../parts/milliseconds.ts";
import { Problem } from "../../parts/problem.tsx";
import { TextBlock } from "../../parts/text-block.tsx";

/** Walks the OAuth flow as a browser would, with the sandbox platform as the other side. */
export function OAuthWalk() {
  const walk = useMutation({ mutationFn: patientApi.sandbox.oauth });
  return (
    <Stack component="section" aria-labelledby="walk">
      <h2 id="walk">The OAuth flow</h2>
      <Text>
        Starts a flow, grants access at the sandbox platform, and follows the redirect back to the receiver.
      </Text>
      <div>
        <Button variant="default" loading={walk.isPending} onClick={() => walk.mutate()}>
          Walk the flow
        </Button>
      </div>
      {walk.isError && <Problem error={walk.error} title="The flow could not be walked" />}
      {walk.data !== undefined && (
        <ol className="moments" aria-label={walk.data.signed_in ? "It signed in" : "It did not sign in"}>
          {walk.data.steps.map(({ method, url, status, says, body, took_ms }) => (
            <li key={url}>
              <Text fw={600}>{says}</Text>
              <Text size="sm">
                {method} {url}: {status}, {milliseconds(took_ms)}
              </Text>
              {body !== "" && <TextBlock label="What was answered" text={body} />}
            </li>
          ))}
        </ol>
      )}
    </Stack>
  );
}
