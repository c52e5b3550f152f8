import { Button, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { patientApi } from "../../client.ts";
import { milliseconds } from "../../parts/milliseconds.ts";
import { Problem } from "../../parts/problem.tsx";
import { useMayChange } from "../../session.ts";

interface Props {
  readonly source: string;
  /** Its addresses, as "they are"; the button says "Check that {what} reachable". */
  readonly what: string;
}

/** Looks from here whether what is sent to the registered addresses arrives at this receiver. */
export function ReachCheck({ source, what }: Props) {
  const check = useMutation({ mutationFn: () => patientApi.sources.reach(source) });
  if (!useMayChange()) return null;
  return (
    <div>
      <Button variant="default" size="compact-md" loading={check.isPending} onClick={() => check.mutate()}>
        Check that {what} reachable
      </Button>
      <div role="status">
        {check.data?.addresses.map(({ url, reached, says, warning, took_ms }) => (
          <Text key={url} size="sm" mt="xs">
            <strong>{reached ? "Reached" : "Not reached"}</strong>: {url} ({milliseconds(took_ms)}). {says}{" "}
            {warning}
          </Text>
        ))}
      </div>
      {check.isError && <Problem error={check.error} title="It could not be checked" />}
    </div>
  );
}
