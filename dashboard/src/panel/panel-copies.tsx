import { useQuery } from "@tanstack/react-query";
import type { CallbackView } from "oncehook/admin-client";
import { api } from "../client.ts";
import { Copy } from "../parts/copy.tsx";
import { asCurl, curlUnavailableReason } from "./as-curl.ts";

/** The default origin of a receiver in development. */
const LOCAL = "http://127.0.0.1:8080";

/** Copies of the callback: a command that sends it again, and the link to it. */
export function CallbackCopies({ callback }: { readonly callback: CallbackView | undefined }) {
  const { data } = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  // A receiver in an application may know only the path of its addresses.
  const registered = data?.items[0]?.addresses[0]?.url ?? "";
  const origin = URL.canParse(registered) ? new URL(registered).origin : LOCAL;
  const why = callback === undefined || data === undefined ? undefined : curlUnavailableReason(callback, data.items);
  const sender = data?.items.find(({ source }) => source === callback?.source);
  const canCurl = callback !== undefined && data !== undefined && why === undefined;
  return (
    <>
      {canCurl && <Copy text={asCurl(callback, origin)} what="as curl" />}
      <Copy text={window.location.href} what="link" />
      {why !== undefined && <p className="note quiet">{why}</p>}
      {canCurl && (sender?.authentication.length ?? 0) > 1 && (
        <p className="note quiet">
          Callbacks are authenticated by {sender?.authenticated_by}: add what is needed beside the signature.
        </p>
      )}
    </>
  );
}
