import { Text } from "@mantine/core";
import { PageLink } from "./page-link.tsx";
import { PageTitle } from "./page-title.tsx";

export function NotFound() {
  return (
    <main>
      <PageTitle title="No such page" />
      <Text>
        There is nothing at this address. <PageLink to="/">Go to the overview</PageLink>
      </Text>
    </main>
  );
}
