import { useQuery } from "@tanstack/react-query";
import type { CallbackView } from "oncehook/admin-client";
import { api } from "../client.ts";
import { Copy } from "../parts/copy.tsx";
import { asCurl, curlUnavailableReason } from "./as-curl.ts";

/** The default origin of a receiver in development. */
const LOCAL = "http://127.0.0.1:8080";

interface Props {
  readonly callback: CallbackView;
}

/** Copies a command that sends the callback again. */
export function CopyAsCurl({ callback }: Props) {
  const { data } = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  // A receiver in an application may know only the path of its addresses.
  const registered = data?.items[0]?.addresses[0]?.url ?? "";
  const origin = URL.canParse(registered) ? new URL(registered).origin : LOCAL;
  const canCurl = data !== undefined && curlUnavailableReason(callback, data.items) === undefined;
  return canCurl && <Copy text={asCurl(callback, origin)} what="as curl" />;
}

/** Why there is no command for the callback, or what the command leaves out. */
export function CurlNote({ callback }: { readonly callback: CallbackView }) {
  const { data } = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  if (data === undefined) return null;
  const why = curlUnavailableReason(callback, data.items);
  if (why !== undefined) return <p className="quiet">{why}</p>;
  const sender = data.items.find(({ source }) => source === callback.source);
  if (sender === undefined || sender.authentication.length < 2) return null;
  return (
    <p className="quiet">
      Copied as curl, add what is needed beside the signature: callbacks are authenticated by {sender.authenticated_by}.
    </p>
  );
}
