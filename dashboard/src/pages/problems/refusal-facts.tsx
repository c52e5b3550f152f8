import { useQuery } from "@tanstack/react-query";
import type { ProblemDetailView, ProblemView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { Facts } from "../../parts/facts.tsx";
import { outcomeLabel } from "../../parts/outcome.ts";
import { plain } from "../../parts/plain-message.ts";
import { Time } from "../../parts/time.tsx";

interface Props {
  readonly problem: ProblemView;
  readonly newest: ProblemDetailView["events"][number] | undefined;
}

/** Who sends the refused callbacks, which header is wrong, and since when. */
export function RefusalFacts({ problem: { source, since, code }, newest }: Props) {
  const id = newest?.callback_id ?? null;
  const { data: callback } = useQuery({
    queryKey: ["callback", id],
    queryFn: () => api.callbacks.get(id ?? 0),
    enabled: id !== null,
  });
  const { data: sources } = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  const authentication = sources?.items.find((one) => one.source === source)?.authentication ?? [];
  const header = authentication.map((one) => one.header).join(", ");
  const agent = Object.entries(callback?.headers ?? {}).find(([name]) => name.toLowerCase() === "user-agent")?.[1];
  return (
    <Facts
      isShort
      of={[
        ["Last good at", <Time key="since" at={since} relative />],
        ["Cause", newest?.error == null ? outcomeLabel(code) : plain(newest.error)],
        ["Header", header === "" ? null : <code key="header">{header}</code>],
        ["Sender", callback === undefined ? null : [callback.remote_address, agent].filter(Boolean).join(", ")],
      ]}
    />
  );
}
