import { type ReceiverOrMaker, receiverGetter, routeHandlers } from "./receiver-maker.ts";

/** SvelteKit's RequestEvent, as far as it is used. */
export interface SvelteKitEvent {
  readonly request: Request;
  getClientAddress(): string;
  /** The Node adapter has the request of `node:http` in it, with the address as it was sent. */
  readonly platform?: unknown;
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
  return routeHandlers(
    receiverGetter(receiver, "toSvelteKitHandler(receiver)"),
    ({ request, getClientAddress, platform }: SvelteKitEvent) => {
      const target = targetOf(platform as NodePlatform | undefined);
      return {
        request,
        info: {
          clientAddress: getClientAddress(),
          ...(target !== undefined && { target }),
          ...(waitUntil !== undefined && { waitUntil }),
        },
      };
    },
  );
}

interface NodePlatform {
  /** `originalUrl` is that of Express or Polka, in which the adapter's handler is mounted. */
  readonly req?: { readonly url?: unknown; readonly originalUrl?: unknown };
}

/** The `Request` of the event spells some characters otherwise, and some platforms sign them. */
function targetOf(platform: NodePlatform | undefined): string | undefined {
  const target = platform?.req?.originalUrl ?? platform?.req?.url;
  return typeof target === "string" ? target : undefined;
}
