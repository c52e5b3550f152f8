import { Alert } from "@mantine/core";
import type { OverviewView } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { PageLink } from "../../parts/page-link.tsx";

/** Where to do something about it. */
const WHERE: Readonly<Record<string, ReactNode>> = {
  exhausted_failures: (
    <PageLink to="/failures" search={{ state: "exhausted" }}>
      Look at them
    </PageLink>
  ),
  dead_notifications: (
    <PageLink to="/notifications" search={{ state: "dead" }}>
      Look at them
    </PageLink>
  ),
  previous_secret_in_use: <PageLink to="/sources">Look at the secrets</PageLink>,
};

interface Props {
  readonly overview: OverviewView;
  /** Whether it is too old to say that all is well. */
  readonly isStale: boolean;
}

/** What will not get better by itself. */
export function NeedsAPerson({ overview: { needs_a_person }, isStale }: Props) {
  return (
    <section aria-labelledby="needs">
      <h2 id="needs">Needs a person now</h2>
      {needs_a_person.length === 0 ? (
        <Alert color={isStale ? "gray" : "green"} variant="outline">
          {isStale ? "Nothing did when this was read; newer news does not come." : "Nothing does."}
        </Alert>
      ) : (
        <Alert color="orange" variant="outline">
          <ul className="plain-list">
            {needs_a_person.map(({ what, says }) => (
              <li key={what}>
                {says} {WHERE[what]}
              </li>
            ))}
          </ul>
        </Alert>
      )}
    </section>
  );
}
