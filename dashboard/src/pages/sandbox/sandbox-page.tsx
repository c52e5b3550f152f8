import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { api, isStatus } from "../../client.ts";
import { Loading } from "../../parts/loading.tsx";
import { Nothing } from "../../parts/nothing.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useMayChange } from "../../session.ts";
import { Composer } from "./composer.tsx";
import { OAuthWalk } from "./oauth-walk.tsx";

export function SandboxPage() {
  const sandbox = useQuery({ queryKey: ["sandbox"], queryFn: api.sandbox.get });
  const mayChange = useMayChange();
  const isAbsent = isStatus(sandbox.error, 404);
  return (
    <>
      <PageTitle
        title="Sandbox"
        says="Compose a callback, sign it, send it as the platform would, and see the answer."
      />
      {sandbox.isPending && <Loading what="the sandbox" />}
      {isAbsent && <Nothing>There is no sandbox here: it exists outside production alone.</Nothing>}
      {sandbox.isError && !isAbsent && (
        <Problem
          error={sandbox.error}
          title="The sandbox could not be read"
          again={() => void sandbox.refetch()}
        />
      )}
      {sandbox.isSuccess && !mayChange && <Nothing>To send callbacks, sign in as an operator.</Nothing>}
      {sandbox.isSuccess && mayChange && (
        <Stack gap="xl">
          <Composer events={sandbox.data.events} />
          <OAuthWalk />
        </Stack>
      )}
    </>
  );
}
