import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import type { ReplayView } from "oncehook/admin-client";
import { useRef } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { outcomeLabel, type Tone, toneOf } from "../parts/outcome.ts";
import { OutcomeBadge } from "../parts/outcome-badge.tsx";
import { TextBlock } from "../parts/text-block.tsx";
import type { Statement } from "../views.ts";
import { ownFramesFirst } from "./own-frames.ts";

/** A replay that has ended, or a dry run. */
export interface FinishedReplay {
  readonly replay: ReplayView;
  readonly eventId: string;
  /** The button that the operator pressed. */
  readonly button: HTMLButtonElement;
  /** Runs a dry run's event for good. */
  readonly again: () => void;
  /** Replays all events of the same cause. */
  readonly all?: { readonly title: string; readonly run: () => void } | undefined;
}

interface Props {
  /** The result of the last action that changed something. */
  readonly message: string | undefined;
  /** Shown until it is closed. */
  readonly replayed: FinishedReplay | undefined;
  readonly close: () => void;
}

/** The results of actions on failures. The page shows them, since a successful action removes its failure's row. */
export function FailureActionResult({ message, replayed, close }: Props) {
  const status = useRef<HTMLDivElement>(null);
  const leave = ({ replay, button }: FinishedReplay) => {
    close();
    // The focus returns to the button, unless its row is gone.
    if (replay.dry_run && button.isConnected) button.focus();
    else status.current?.focus();
  };
  return (
    <>
      <div role="status" ref={status} tabIndex={-1}>
        {message !== undefined && <Alert color="blue">{message}</Alert>}
      </div>
      {replayed !== undefined && <ReplayResult finished={replayed} close={() => leave(replayed)} />}
    </>
  );
}

interface ReplayResultProps {
  readonly finished: FinishedReplay;
  readonly close: () => void;
}

/** How a replay ended, or what a dry run would have done; then the replay itself is one button away. */
function ReplayResult({ finished: { replay, eventId, again, all }, close }: ReplayResultProps) {
  const then = (run: () => void) => () => {
    close();
    run();
  };
  return (
    <Dialog isOpen close={close} size="xl" title={replay.dry_run ? "Dry run" : "Replay"} id={eventId}>
      <ReplayOutcome replay={replay} />
      {replay.dry_run && (
        <Group justify="flex-end" mt="lg">
          {all !== undefined && (
            <Button variant="default" onClick={then(all.run)}>
              {all.title}
            </Button>
          )}
          <Button onClick={then(again)}>Replay this</Button>
        </Group>
      )}
    </Dialog>
  );
}

/** The outcome of a run with what the handler did, whether it was rolled back or not. */
export function ReplayOutcome({ replay }: { readonly replay: ReplayView }) {
  const { dry_run, outcome, result, error, statements } = replay;
  return (
    <Stack>
      <div className="result-line" data-tone={dry_run ? dryRunTone(outcome) : toneOf(outcome)} role="status">
        <p>
          {dry_run ? (
            <span className="outcome" data-tone={dryRunTone(outcome)}>
              {dryRunLabel(outcome)}
            </span>
          ) : (
            <OutcomeBadge outcome={outcome} />
          )}
        </p>
        <p>{dry_run ? "Rolled back: nothing has changed." : sentence(replay)}</p>
      </div>
      {result !== undefined && (
        <section>
          <h3>Result</h3>
          <TextBlock label="The handler's result" text={JSON.stringify(result)} />
        </section>
      )}
      {error !== undefined && <TextBlock label="The error of this run with its stack" text={ownFramesFirst(error)} />}
      {dry_run && statements !== undefined && (
        <Statements statements={statements} omitted={replay.statements_omitted ?? 0} />
      )}
      {replay.connection_used === true && (
        <Text c="dimmed">The handler took tx.connection; what it ran through that is not among them.</Text>
      )}
      {replay.deferred_keys_unchecked === true && (
        <Text c="dimmed">Deferred foreign keys were not checked: the commit does that, and may still refuse it.</Text>
      )}
      {dry_run && replay.notifications !== undefined && <Queued notifications={replay.notifications} />}
    </Stack>
  );
}

/** Green is only what was handled. */
function dryRunTone(outcome: string): Tone {
  return outcome === "success" ? "quiet" : toneOf(outcome);
}

function dryRunLabel(outcome: string): string {
  if (outcome === "success") return "Would be handled";
  return `${toneOf(outcome) === "failed" ? "Would fail" : "Would be rejected"}: ${outcomeLabel(outcome)}`;
}

function sentence({ outcome, earlier }: ReplayView): string {
  if (earlier !== undefined)
    return outcome === "success"
      ? `It was run again. Its earlier result: ${JSON.stringify(earlier.result)}`
      : "It failed. Nothing has changed, and the event keeps its earlier result.";
  if (outcome === "success") return "It was handled, and its record is completed.";
  if (outcome === "already_processed") return "It had been handled before; nothing was done again.";
  return "It failed again, and stays in the list.";
}

interface StatementsProps {
  readonly statements: readonly Statement[];
  readonly omitted: number;
}

/** The statements of a handler, with the values that it gave. */
export function Statements({ statements, omitted }: StatementsProps) {
  if (statements.length === 0) return <Text>The handler ran no statement.</Text>;
  const numbered = statements.map((statement, index) => ({ ...statement, number: index + 1 }));
  return (
    <section aria-labelledby="statements">
      <h3 id="statements">SQL statements</h3>
      <ol className="statements">
        {numbered.map((statement) => (
          <li key={statement.number}>
            <StatementText statement={statement} />
          </li>
        ))}
      </ol>
      {omitted > 0 && <Text c="dimmed">{omitted} more are not shown.</Text>}
    </section>
  );
}

function StatementText({ statement: { sql, values, values_omitted, rows } }: { readonly statement: Statement }) {
  const more = values_omitted > 0 ? [`and ${values_omitted} more`] : [];
  const given = [...values.map((value) => JSON.stringify(value)), ...more].join(", ");
  return (
    <>
      <code>{sql}</code>
      <span className="statement-rows" data-failed={rows === null}>
        {rows === null ? "Failed" : rows === 1 ? "1 row" : `${rows} rows`}
      </span>
      {given !== "" && <code className="statement-values">{given}</code>}
    </>
  );
}

function Queued({ notifications }: { readonly notifications: NonNullable<ReplayView["notifications"]> }) {
  if (notifications.length === 0) return null;
  return (
    <section aria-labelledby="queued">
      <h3 id="queued">Notifications it would send</h3>
      <TextBlock label="Notifications that the handler queued" text={JSON.stringify(notifications)} />
    </section>
  );
}
