import { Button, Center, Paper, PasswordInput, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { api, isStatus } from "../client.ts";
import { Problem } from "../parts/page-states.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { signInSearch } from "../search.ts";
import { SESSION } from "../session.ts";
import { Brand } from "../shell/brand.tsx";
import { EnvironmentBadge } from "../shell/environment-badge.tsx";

const route = getRouteApi("/sign-in");
const OIDC = "/sign-in/oidc";

export function SignInPage() {
  // A receiver that does not say how one signs in takes its token.
  const { data } = useQuery({
    queryKey: ["sign-in"],
    queryFn: () => api.session.methods().catch(() => null),
  });
  const methods = data?.methods ?? ["token"];
  const { back } = signInSearch(route.useSearch());
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <Brand isMark />
        <PageTitle title="Sign in to Oncehook">
          <EnvironmentBadge environment={data?.environment ?? null} />
        </PageTitle>
        <Stack>
          {methods.includes("oidc") && (
            <Button component="a" href={back === undefined ? OIDC : `${OIDC}?${new URLSearchParams({ back })}`}>
              {data?.oidc_label ?? "Sign in with your organisation"}
            </Button>
          )}
          {methods.includes("token") && <TokenForm environment={data?.environment ?? null} />}
        </Stack>
      </Paper>
    </Center>
  );
}

function TokenForm({ environment }: { readonly environment: string | null }) {
  const router = useRouter();
  const queries = useQueryClient();
  const { back } = signInSearch(route.useSearch());
  const signIn = useMutation({
    mutationFn: (token: string) => api.session.start({ token }),
    onSuccess: (session) => {
      queries.setQueryData(SESSION.queryKey, session);
      router.history.push(back ?? "/");
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget).get("token");
    if (typeof token === "string" && token !== "") signIn.mutate(token.trim());
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <PasswordInput
          name="token"
          label="Admin token"
          description={`The value of ADMIN_TOKEN${environment === "development" ? ", generated into data/secrets.development.json" : ""}.`}
          autoComplete="current-password"
          required
          withAsterisk={false}
          error={isStatus(signIn.error, 401) ? "This is not the receiver's admin token." : undefined}
        />
        <Button type="submit" loading={signIn.isPending}>
          Sign in
        </Button>
        {signIn.isError && !isStatus(signIn.error, 401) && (
          <Problem error={signIn.error} title="The sign-in did not succeed" />
        )}
        <Text size="sm" c="dimmed">
          The token is sent once and kept nowhere in the browser; a cookie that scripts cannot read holds the session.
        </Text>
      </Stack>
    </form>
  );
}
