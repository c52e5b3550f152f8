import { useQuery, useQueryClient } from "@tanstack/react-query";
import { AdminError } from "oncehook/admin-client";
import { useEffect, useRef } from "react";
import { Icon } from "../parts/icon.tsx";
import { Time } from "../parts/time.tsx";
import { SESSION } from "../session.ts";

/** A receiver that went down is reported within five seconds. */
const EVERY_MS = 4_000;

function useConnection() {
  const { isError, failureCount, failureReason, error, dataUpdatedAt } = useQuery({
    ...SESSION,
    refetchInterval: EVERY_MS,
  });
  return { isAway: isError || failureCount > 0, fault: failureReason ?? error, dataUpdatedAt };
}

/** States that the receiver does not respond, and since when. Once it does, all that is shown is read again. */
export function ConnectionBanner() {
  const queries = useQueryClient();
  const { isAway, fault, dataUpdatedAt } = useConnection();
  const wasAway = useRef(false);
  useEffect(() => {
    // A live list brings what it missed by itself, without moving its rows.
    if (wasAway.current && !isAway)
      void queries.invalidateQueries({ predicate: ({ meta }) => meta?.isKeptByLive !== true });
    wasAway.current = isAway;
  }, [isAway, queries]);
  const what = fault instanceof AdminError ? `The receiver reports: ${fault.message}` : "The receiver does not respond";
  return (
    <div role="status">
      {isAway && (
        <div className="banner">
          <Icon name="problems" />
          <span>
            {what}. Last response: <Time at={new Date(dataUpdatedAt).toISOString()} />. The pages keep what they have
            read, and continue when it responds.
          </span>
        </div>
      )}
    </div>
  );
}

/** Whether the receiver responds, at a glance; the banner says it in words. */
export function ConnectionDot() {
  const { isAway } = useConnection();
  return (
    <span className="connection" title={isAway ? "The receiver does not respond" : "The receiver responds"}>
      <span className="connection-dot" data-away={isAway} />
      {isAway ? "Away" : "Connected"}
    </span>
  );
}
