import { type ReceiverOrMaker, receiverGetter, routeHandlers } from "./receiver-maker.ts";

export interface NextJsHandlerOptions {
  /**
   * The client's address; Next.js knows none. Behind a proxy that sets it: `(request) => request.headers.get("x-real-ip")`.
   * An allow list of addresses refuses every callback without it, and rate limits count none.
   */
  readonly clientAddress?: (request: Request) => string | null | undefined;
  /** `after` of next/server: keeps a function alive until accepted events have run and the callback log is stored. */
  readonly waitUntil?: (promise: Promise<unknown>) => void;
}

export type NextJsHandler = (request: Request) => Promise<Response>;

/**
 * The handlers of a route of Next.js: `export const { GET, HEAD, POST } = toNextJsHandler(receiver)` in
 * `app/api/[source]/callback/route.ts`.
 * @param receiver a function that returns the receiver, where `next build` has no variables
 */
export function toNextJsHandler(
  receiver: ReceiverOrMaker,
  { clientAddress, waitUntil }: NextJsHandlerOptions = {},
): Readonly<Record<"GET" | "HEAD" | "POST", NextJsHandler>> {
  return routeHandlers(receiverGetter(receiver, "toNextJsHandler(receiver)"), (request: Request) => {
    const address = clientAddress?.(request) ?? undefined;
    const info = {
      ...(address !== undefined && { clientAddress: address }),
      ...(waitUntil !== undefined && { waitUntil }),
    };
    return { request, info };
  });
}
