import { useQuery } from "@tanstack/react-query";
import { api } from "../../client.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { useSession } from "../../session.ts";

/** What is said of an empty list of callbacks. */
export function NoCallbacks({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <>No callback fits these filters. Remove one, or look further back in time.</>
  ) : (
    <NoneYet />
  );
}

function NoneYet() {
  const { sandbox } = useSession();
  const { data } = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  const address = data?.items[0]?.addresses[0]?.url;
  return (
    <>
      No callback has arrived yet. Register {address ?? <PageLink to="/sources">the address</PageLink>} with
      the platform
      {sandbox && (
        <>
          , or <PageLink to="/sandbox">send one from the sandbox</PageLink>
        </>
      )}
      .
    </>
  );
}
