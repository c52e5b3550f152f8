import { Alert, Button, Text } from "@mantine/core";
import { AdminError } from "oncehook/admin-client";

interface Props {
  readonly error: unknown;
  /** What could not be done, as "The callbacks could not be read". */
  readonly title: string;
  readonly again?: () => void;
}

/** What went wrong, in the receiver's words, and what to do next. */
export function Problem({ error, title, again }: Props) {
  const { says, next } = wordsOf(error);
  return (
    <Alert color="red" title={title} role="alert" my="md">
      <Text size="sm">{says}</Text>
      {next !== undefined && (
        <Text size="sm" mt="xs">
          {next}
        </Text>
      )}
      {again !== undefined && (
        <Button mt="sm" size="xs" variant="default" onClick={again}>
          Try again
        </Button>
      )}
    </Alert>
  );
}

function wordsOf(error: unknown): { says: string; next?: string } {
  if (!(error instanceof AdminError)) {
    return {
      says: `The receiver did not answer: ${error instanceof Error ? error.message : String(error)}.`,
      next: "Look whether the process still runs, and whether this page's address still leads to it.",
    };
  }
  if (error.status === 403) return { says: error.message, next: "Sign in as an operator to do this." };
  if (error.status === 404) return { says: error.message };
  if (error.status >= 500) return { says: error.message, next: "The receiver's log says why." };
  return { says: error.message };
}
