import { Text } from "@mantine/core";
import { type ErrorComponentProps, useLocation, useRouter } from "@tanstack/react-router";
import { PageLink } from "./page-link.tsx";
import { Problem } from "./page-states.tsx";
import { PageTitle } from "./page-title.tsx";

/** In place of a page that could not be shown. */
export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <main className="page-alone">
      <PageTitle title="This page could not be shown" />
      <Problem error={error} title="Something went wrong" again={() => void router.invalidate()} />
    </main>
  );
}

/** It stands outside the shell. */
export function NotFound() {
  const { pathname } = useLocation();
  return (
    <main className="page-alone">
      <PageTitle title="No such page" />
      <Text>
        There is nothing at {pathname}. <PageLink to="/">Back to overview</PageLink>
      </Text>
    </main>
  );
}
