import { type ApplicationReceiver, applicationReceiver } from "./application-receiver.ts";
import type { FetchInfo, Receiver } from "./receiver.ts";

/**
 * A receiver, or a function that returns it and keeps it; each request calls that. Builds of Next.js and SvelteKit
 * evaluate the modules of routes without the variables of production, where a configuration throws.
 */
export type ReceiverOrMaker = Receiver | (() => Receiver | Promise<Receiver>);

/** @param call of the adapter, for errors @throws TypeError at once, or from a maker's receiver at its first request */
export function receiverGetter(source: ReceiverOrMaker, call: string): () => Promise<ApplicationReceiver> {
  if (typeof source === "function") return async () => applicationReceiver(await source(), call);
  const receiver = applicationReceiver(source, call);
  return async () => receiver;
}

type Methods<Handler> = Readonly<Record<"GET" | "HEAD" | "POST", Handler>>;

/** The handlers of a framework's route. @param read its event as a Request, with what else the framework knows */
export function routeHandlers<Event>(
  getReceiver: () => Promise<Receiver>,
  read: (event: Event) => { readonly request: Request; readonly info: FetchInfo },
): Methods<(event: Event) => Promise<Response>> {
  const handle = async (event: Event): Promise<Response> => {
    const { request, info } = read(event);
    return (await getReceiver()).fetch(request, info);
  };
  return { GET: handle, HEAD: handle, POST: handle };
}
