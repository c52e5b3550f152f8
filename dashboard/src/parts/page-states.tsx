import { Alert, Button, Group, Skeleton, Stack, Text, VisuallyHidden } from "@mantine/core";
import { AdminError } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { isStatus } from "../client.ts";
import { IS_IN_APPLICATION } from "../mount.ts";
import { PageLink } from "./page-link.tsx";

interface Props {
  readonly error: unknown;
  /** The failure, as "The callbacks could not be read". */
  readonly title: string;
  readonly again?: () => void;
}

/** An error, in the receiver's words, and the next step. */
export function Problem({ error, title, again }: Props) {
  const { message, next } = errorText(error);
  const isWrongAddress = isStatus(error, 404) || isStatus(error, 400);
  return (
    <Alert color="red" title={title} role="alert" my="md">
      <Text size="sm">{message}</Text>
      {next !== undefined && (
        <Text size="sm" mt="xs">
          {next}
        </Text>
      )}
      {again !== undefined && (
        <Group mt="sm">
          <Button size="xs" variant="default" onClick={again}>
            Try again
          </Button>
          {isWrongAddress && <PageLink to="/">Back to overview</PageLink>}
        </Group>
      )}
    </Alert>
  );
}

function errorText(error: unknown): { message: string; next?: string } {
  if (!(error instanceof AdminError)) {
    return {
      message: `The receiver did not answer: ${error instanceof Error ? error.message : String(error)}.`,
      next: "Look whether the process still runs, and whether this page's address still leads to it.",
    };
  }
  if (error.status === 403)
    return { message: error.message, ...(IS_IN_APPLICATION ? {} : { next: "Sign in as an operator to do this." }) };
  if (error.status === 404) return { message: error.message };
  if (error.status >= 500) return { message: error.message, next: "The receiver's log says why." };
  return { message: error.message };
}

const SKELETON_ROWS = Array.from({ length: 12 }, (_, index) => index);
/** In percent: uneven, as text is. */
const [MIN_WIDTH, WIDTHS] = [30, 60];

/** In place of content that is being read: rows as high as those that come. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <Stack gap={0} role="status">
      <VisuallyHidden>{`Reading ${what}`}</VisuallyHidden>
      {SKELETON_ROWS.map((row) => (
        <div key={row} className="skeleton-row">
          <Skeleton height={8} width={`${MIN_WIDTH + ((row * 37) % WIDTHS)}%`} radius="xl" />
        </div>
      ))}
    </Stack>
  );
}

/** In place of an empty list: why it is empty, and how it fills. */
export function EmptyState({ children }: { readonly children: ReactNode }) {
  return <div className="empty-state">{children}</div>;
}
