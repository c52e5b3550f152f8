import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { EndpointCheckView } from "oncehook/admin-client";
import { slowApi } from "../../client.ts";
import { Problem } from "../../parts/page-states.tsx";
import { milliseconds, Time } from "../../parts/time.tsx";
import { useMayChange } from "../../session.ts";

const REACHED = "Reached: ";

type LastCheck = { readonly at: string; readonly check: EndpointCheckView } | null;

interface Props {
  readonly source: string;
  /** The result of the last check, of any process. */
  readonly last?: LastCheck;
}

/** Checks whether requests to the registered addresses arrive at this receiver. */
export function EndpointCheck({ source, last = null }: Props) {
  const queries = useQueryClient();
  const check = useMutation({
    mutationFn: () => slowApi.sources.check(source),
    onSettled: () => queries.invalidateQueries({ queryKey: ["source", source, "details"] }),
  });
  const mayChange = useMayChange();
  return (
    <>
      {mayChange && (
        <Button variant="default" size="compact-sm" loading={check.isPending} onClick={() => check.mutate()}>
          Check endpoint
        </Button>
      )}
      <div role="status" className="checked">
        <CheckResult check={check.data ?? last?.check} at={check.data === undefined ? last?.at : undefined} />
      </div>
      {check.isError && <Problem error={check.error} title="It could not be checked" />}
    </>
  );
}

interface ResultProps {
  readonly check: EndpointCheckView | undefined;
  /** When it was made, where that was not just now. */
  readonly at: string | undefined;
}

/** A line an address. The finding is said once, and for each address that was not reached. */
function CheckResult({ check, at }: ResultProps) {
  return check?.addresses.map(({ url, reached, message, warning, duration_ms }, index) => (
    <p key={url}>
      <span className="outcome" data-tone={reached ? "success" : "failed"}>
        {reached ? "Reached" : "Not reached"}
      </span>
      : {url} ({milliseconds(duration_ms)}
      {index === 0 && at !== undefined && (
        <>
          , at <Time at={at} isShort />
        </>
      )}
      ). {(index === 0 || !reached) && <span className="quiet">{`${findingOf(message)} ${warning ?? ""}`}</span>}
    </p>
  ));
}

/** The receiver's messages say first whether it was reached, as the line does. */
function findingOf(message: string): string {
  const finding = message.startsWith(REACHED) ? message.slice(REACHED.length) : message;
  return finding.charAt(0).toUpperCase() + finding.slice(1);
}
