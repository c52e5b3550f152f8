import type { CallbackView, EventHistoryView, EventView } from "oncehook/admin-client";
import { TextBlock } from "../parts/text-block.tsx";
import { Time } from "../parts/time.tsx";
import { actorName } from "../session.ts";

interface Props {
  readonly callback: CallbackView | undefined;
  /** Of the handler, as its record has it. */
  readonly result: EventView["result"];
  /** The runs for operators that replaced a result. */
  readonly replays: EventHistoryView["replays"];
}

/** The response that the platform got, and the result of the handler. */
export function ResponseTab({ callback, result, replays }: Props) {
  return (
    <>
      {callback !== undefined && (
        <>
          <h3>Response {callback.response_status}</h3>
          <TextBlock label="Response body" text={callback.response_body} />
        </>
      )}
      {result !== null && (
        <>
          <h3>Result of the handler</h3>
          <TextBlock label="The handler's result" text={JSON.stringify(result)} />
        </>
      )}
      {replays.toReversed().map(({ replayed_at, actor, reason, earlier_result }) => (
        <section key={replayed_at}>
          <p className="quiet">
            Run again <Time at={replayed_at} /> by {actorName(actor)}: {reason}. The result before that:
          </p>
          <TextBlock label="The earlier result" text={JSON.stringify(earlier_result)} />
        </section>
      ))}
      {callback === undefined && result === null && <p className="quiet">There is no response of this event.</p>}
    </>
  );
}
