import { Alert } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { AdminError } from "oncehook/admin-client";
import { useEffect, useRef } from "react";
import { Time } from "../parts/time.tsx";
import { SESSION } from "../session.ts";

const EVERY_MS = 10_000;

/** States that the receiver does not respond, and since when. Once it does, all that is shown is read again. */
export function Connection() {
  const queries = useQueryClient();
  const { isError, failureCount, failureReason, error, dataUpdatedAt } = useQuery({
    ...SESSION,
    refetchInterval: EVERY_MS,
  });
  const isAway = isError || failureCount > 0;
  const wasAway = useRef(false);
  useEffect(() => {
    if (wasAway.current && !isAway) void queries.invalidateQueries();
    wasAway.current = isAway;
  }, [isAway, queries]);
  const fault = failureReason ?? error;
  const what = fault instanceof AdminError ? `The receiver reports: ${fault.message}` : "The receiver does not respond";
  return (
    <div role="status">
      {isAway && (
        <Alert color="orange" variant="outline" mb="md">
          {what}. Last response: <Time at={new Date(dataUpdatedAt).toISOString()} />. The pages keep what they have
          read, and continue when it responds.
        </Alert>
      )}
    </div>
  );
}
