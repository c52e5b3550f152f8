import { type ReceiverOrMaker, receiverOf } from "./receiver-maker.ts";

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
 * @param given a function that returns the receiver, where the build has no variables
 */
export function toSvelteKitHandler(
  given: ReceiverOrMaker,
  { waitUntil }: SvelteKitHandlerOptions = {},
): Readonly<Record<"GET" | "HEAD" | "POST", SvelteKitHandler>> {
  const handle: SvelteKitHandler = async ({ request, getClientAddress }) => {
    const receiver = await receiverOf(given);
    const clientAddress = getClientAddress();
    return receiver.fetch(request, { clientAddress, ...(waitUntil !== undefined && { waitUntil }) });
  };
  return { GET: handle, HEAD: handle, POST: handle };
}
