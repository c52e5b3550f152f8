import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { PageTitle } from "./page-title.tsx";
import { Problem } from "./problem.tsx";

/** In place of a page that could not be shown. */
export function PageProblem({ error }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <main>
      <PageTitle title="This page could not be shown" />
      <Problem error={error} title="Something went wrong" again={() => void router.invalidate()} />
    </main>
  );
}
