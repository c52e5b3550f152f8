import type { IncomingMessage } from "node:http";
import type { Person, SignIn } from "../../oauth/index.ts";
import type { Role } from "../../store/index.ts";

/** Who may come in, as it is configured. */
export interface Access {
  /** Whoever has one of them may do what the role may. */
  readonly tokens: readonly { readonly token: string; readonly role: Role }[];
  /** Null where nobody signs in by OpenID Connect. */
  readonly provider: Provider | null;
  readonly sessionHours: number;
  /** The origin that operators use; null where it is the listener's own. */
  readonly baseUrl: string | null;
  /** Whether a request may name this host. On a loopback address only our own: another name was made to lead there. */
  readonly isOwnHost: (hostname: string) => boolean;
  /** Where a request comes from, through trusted proxies only. */
  readonly remoteAddress: (message: IncomingMessage) => string;
  /** What tries are counted under. @param address as `remoteAddress` has it */
  readonly rateKey: (address: string) => string;
  /** Tells texts apart, and tells nobody else what they are. */
  readonly fingerprint: (text: string) => string;
}

/** An OpenID provider that signs operators in. */
export interface Provider {
  readonly signIn: SignIn;
  /** What the page calls it. */
  readonly label: string;
  /** Undefined for somebody who may not come in. */
  readonly roleOf: (person: Person) => Role | undefined;
  /** A fingerprint of all this: with other settings its sessions end. */
  readonly fingerprint: string;
}

/** Who sends a request. */
export interface Caller {
  readonly who: string;
  readonly role: Role;
  /** Null with a token, which is asked for each time. */
  readonly session: { readonly idSha256: string; readonly expiresAt: Date } | null;
}
