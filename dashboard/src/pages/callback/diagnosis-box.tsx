import { Alert, Text } from "@mantine/core";
import type { Diagnosis } from "../../views.ts";

/** Why the signature did not verify, and what to do. */
export function DiagnosisBox({ diagnosis }: { readonly diagnosis: Diagnosis }) {
  return (
    <Alert color="orange" title="Why it was refused" my="md">
      <Text size="sm">{diagnosis.says}</Text>
      <Text size="sm" mt="xs">
        {diagnosis.do}
      </Text>
    </Alert>
  );
}
