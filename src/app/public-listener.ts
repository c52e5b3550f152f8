import type { TokenCheck } from "../admin/index.ts";
import { createPublicListener, type Listener, type TlsPair } from "../http/index.ts";
import type { Assembled } from "./assemble.ts";
import { receiveParts } from "./receive-parts.ts";

/** Plain HTTP is left only where nothing but this machine can reach the listener (SPEC 1.3, 5.4). */
export function publicListener(assembled: Assembled, tls: TlsPair | null, tokenCheck: TokenCheck): Listener {
  const { listen, connections, environment } = assembled.config;
  const { trustProxy } = listen;
  const requireHttps = environment === "production" || listen.tls !== undefined || trustProxy.length > 0;
  const { options, dependencies } = receiveParts(assembled, { hasTls: tls !== null, requireHttps, tokenCheck });
  return createPublicListener({ ...options, trustProxy, connections, tls }, dependencies);
}
