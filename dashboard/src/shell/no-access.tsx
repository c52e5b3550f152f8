import { Button, Text } from "@mantine/core";
import { PageTitle } from "../parts/page-title.tsx";

/** In place of every page, once the application around the receiver admits this person no longer. */
export function NoAccess() {
  return (
    <main>
      <PageTitle title="No access" />
      <Text mb="md">
        The application did not let you in. Sign in there with an account that may use this page, then load it again.
      </Text>
      <Button onClick={() => window.location.reload()}>Load again</Button>
    </main>
  );
}
