import type { ErrorComponentProps } from "@tanstack/react-router";
import { PageTitle } from "./page-title.tsx";
import { Problem } from "./problem.tsx";

/** In place of a page that could not be shown. */
export function PageProblem({ error, reset }: ErrorComponentProps) {
  return (
    <main>
      <PageTitle title="This page could not be shown" />
      <Problem error={error} title="Something went wrong" again={reset} />
    </main>
  );
}
