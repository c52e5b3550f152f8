import { type ReceiverOrMaker, receiverGetter, routeHandlers } from "./receiver-maker.ts";

/** SvelteKit's RequestEvent, as far as it is used. */
export interface SvelteKitEvent {
  readonly request: Request;
  getClientAddress(): string;
}

export interface SvelteKitHandlerOptions {
  /** Keeps a function alive until accepted events have run and the callback log is stored, such as that of @vercel/functions. */
  readonly waitUntil?: (promise: Promise<unknown>) => void;
}

export type SvelteKitHandler = (event: SvelteKitEvent) => Promise<Response>;

/**
 * The handlers of a `+server.ts`: `export const { GET, HEAD, POST } = toSvelteKitHandler(receiver)` in
 * `src/routes/api/[source]/callback/`. SvelteKit itself answers 403 to forms without an Origin: see
 * docs/frameworks/sveltekit.md.
 * @param receiver a function that returns the receiver, where the build has no variables
 */
export function toSvelteKitHandler(
  receiver: ReceiverOrMaker,
  { waitUntil }: SvelteKitHandlerOptions = {},
): Readonly<Record<"GET" | "HEAD" | "POST", SvelteKitHandler>> {
  return routeHandlers(receiverGetter(receiver, "toSvelteKitHandler(receiver)"), (event: SvelteKitEvent) => {
    const clientAddress = event.getClientAddress();
    return { request: event.request, info: { clientAddress, ...(waitUntil !== undefined && { waitUntil }) } };
  });
}
