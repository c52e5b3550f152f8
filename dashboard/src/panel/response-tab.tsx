import type { CallbackView, EventView } from "oncehook/admin-client";
import { TextBlock } from "../parts/text-block.tsx";

interface Props {
  readonly callback: CallbackView | undefined;
  /** Of the handler, as its record has it. */
  readonly result: EventView["result"];
}

/** The response that the platform got, and the result of the handler. */
export function ResponseTab({ callback, result }: Props) {
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
      {callback === undefined && result === null && <p className="quiet">There is no response of this event.</p>}
    </>
  );
}
