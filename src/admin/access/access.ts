import type { IncomingMessage } from "node:http";
import type { Identity, SignIn } from "../../oauth/index.ts";
import type { Role } from "../../store/index.ts";

export interface AdminAccess {
  /** Each token grants its role. */
  readonly tokens: readonly { readonly token: string; readonly role: Role }[];
  /** Null without OpenID Connect. */
  readonly provider: OidcProvider | null;
  readonly sessionHours: number;
  /** The origin that operators use; null where it is the listener's own. */
  readonly baseUrl: string | null;
  /** Whether a request may name this host. On a loopback address only our own: another name was made to lead there. */
  readonly isAllowedHost: (hostname: string) => boolean;
  /** Where a request comes from, through trusted proxies only. */
  readonly remoteAddress: (message: IncomingMessage) => string;
  /** What tries are counted under. @param address as `remoteAddress` has it */
  readonly rateKey: (address: string) => string;
  /** A keyed hash: distinguishes texts without revealing them. */
  readonly fingerprint: (text: string) => string;
}

export interface OidcProvider {
  readonly signIn: SignIn;
  /** What the page calls it. */
  readonly label: string;
  /** Undefined for a person without access. */
  readonly roleOf: (person: Identity) => Role | undefined;
  /** A fingerprint of all this: with other settings its sessions end. */
  readonly fingerprint: string;
}

export interface Caller {
  readonly actor: string;
  readonly role: Role;
  /** Null with a token, which is asked for each time. */
  readonly session: { readonly idSha256: string; readonly expiresAt: Date } | null;
}

/** What the guard asks of a route; it stands in the route's schema. */
export interface GuardRules {
  /** Needs no sign-in. */
  readonly isPublic?: boolean;
  /** For any `Host`: the response holds no secret. */
  readonly anyHost?: boolean;
  /** The role that it needs; by default every role may read, and only operators may change things. */
  readonly role?: Role;
  /** The name under which the audit log has it, such as `failure.replay`; everything but GET must have one. */
  readonly action?: string;
  /** The name instead where the query asks for a dry run. */
  readonly dryRunAction?: string;
  /** The fields of the body that the audit log keeps; none of them may hold a secret. */
  readonly auditedFields?: readonly string[];
}

declare module "fastify" {
  interface FastifySchema {
    guard?: GuardRules;
  }
  interface FastifyRequest {
    /** Null on open routes. */
    caller: Caller | null;
    /** Of its row in the audit log, while it is under way. */
    auditId: number | null;
  }
}
