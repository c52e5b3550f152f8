import * as oauth from "oauth4webapi";
import { type Clock, fromCanonicalBase64url } from "../domain/index.ts";
import type { Sealer } from "../seal/index.ts";
import { authorizationAddress } from "./authorization-address.ts";
import { requestTokens } from "./exchange-code.ts";
import { secret } from "./flow.ts";
import type { Platform } from "./platform.ts";
import { asking, PlatformError } from "./platform-error.ts";

export interface SignInDeps {
  readonly platform: Platform;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly redirectUri: string;
  /** The claim that tells who may come in. */
  readonly claim: string;
}

/** Somebody whom the provider vouches for. */
export interface Person {
  readonly subject: string;
  /** Null unless the provider says that it is verified. */
  readonly email: string | null;
  /** Of the claim; a mail address that is not verified is none. */
  readonly values: readonly string[];
}

/** Somebody who was at the provider. */
export interface SignedIn {
  readonly person: Person;
  /** What `begin` was given. */
  readonly wayBack: string;
}

/** Signing operators in by OpenID Connect. */
export interface SignIn {
  /** @param wayBack where to go on to in the end; at most a thousand bytes @throws Error when the provider cannot be discovered */
  begin(wayBack: string): Promise<{
    readonly location: string;
    /** For the browser to bring back: encrypted, and of use for ten minutes. */
    readonly flow: string;
  }>;
  /**
   * @param query what the provider sent the browser back with
   * @param flow what `begin` gave to the same browser; undefined where it brings none
   * @throws NoFlow where there is none of ours; SignInRefused where it is no answer to this flow, or a refusal; otherwise what the
   * provider could not do
   */
  end(query: URLSearchParams, flow: string | undefined): Promise<SignedIn>;
}

/** What the browser brought is not what signs somebody in. */
export class SignInRefused extends Error {
  override readonly name = "SignInRefused";
}

/** It brought no flow that was begun here: whoever has a page can send other people's browsers back so. */
export class NoFlow extends Error {
  override readonly name = "NoFlow";
}

/** How long somebody may take at the provider, in seconds. */
export const SIGN_IN_SECONDS = 600;
const TIME_LIMIT_MS = 10_000;
const CONTEXT = "operator's sign-in";

interface Flow {
  readonly state: string;
  readonly codeVerifier: string;
  readonly nonce: string;
  readonly endsAt: number;
  readonly wayBack: string;
}

type Claims = Readonly<Record<string, unknown>>;

/**
 * The authorization code flow of OpenID Connect Core §3.1, with PKCE, state, nonce and the check of `iss` (RFC 9207). What a flow
 * needs at its end is in the browser's own cookie, encrypted: a stranger who begins flows fills no table.
 */
export function createSignIn(deps: SignInDeps): SignIn {
  const { platform, sealer, clock, redirectUri } = deps;
  return {
    async begin(wayBack) {
      const { authorization_endpoint: endpoint } = await platform.server();
      if (endpoint === undefined)
        throw new Error(`${platform.settings.issuer}: its discovery names no authorization_endpoint`);
      const flow: Flow = {
        state: secret(),
        codeVerifier: oauth.generateRandomCodeVerifier(),
        nonce: secret(),
        endsAt: clock.now().getTime() + SIGN_IN_SECONDS * 1000,
        wayBack,
      };
      const location = await authorizationAddress(endpoint, platform, {
        ...flow,
        redirectUri,
        responseMode: "query",
      });
      const sealed = sealer.seal(Buffer.from(JSON.stringify(flow)), CONTEXT);
      return { location, flow: Buffer.from(sealed).toString("base64url") };
    },
    async end(query, sealed) {
      const flow = opened(sealed, sealer, clock);
      return { person: await end(query, flow, deps), wayBack: flow.wayBack };
    },
  };
}

function opened(flow: string | undefined, sealer: Sealer, clock: Clock): Flow {
  if (flow === undefined) throw new NoFlow("the browser brought none");
  const sealed = fromCanonicalBase64url(flow);
  if (sealed === undefined) throw new NoFlow("the flow was not begun here");
  const read = (): Flow => JSON.parse(Buffer.from(sealer.open(sealed, CONTEXT)).toString("utf8"));
  let found: Flow;
  try {
    found = read();
  } catch (cause) {
    throw new NoFlow("the flow was not begun here", { cause });
  }
  if (found.endsAt <= clock.now().getTime()) throw new SignInRefused("the flow was begun too long ago");
  return found;
}

async function end(query: URLSearchParams, flow: Flow, deps: SignInDeps): Promise<Person> {
  const { platform, redirectUri, claim } = deps;
  const { codeVerifier, nonce } = flow;
  const server = await platform.server();
  const code = validCode(server, platform, query, flow.state);
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  const grant = { code, flow: { code_verifier: codeVerifier, nonce, redirect_uri: redirectUri } };
  try {
    return await asking(async () => {
      const tokens = await requestTokens(platform, server, grant, redirectUri, signal);
      return personOf(await documentsOf(platform, server, tokens, claim, signal), claim);
    });
  } catch (error) {
    if (error instanceof PlatformError && error.verdict === "invalid_grant")
      throw new SignInRefused("the provider does not accept the code", { cause: error });
    throw error;
  }
}

/** RFC 9207 and RFC 6749 §4.1.2: the issuer, the state, no error, and a code. */
function validCode(
  server: oauth.AuthorizationServer,
  { client }: Platform,
  query: URLSearchParams,
  state: string,
): string {
  // RFC 6749 §3.1; the library looks at some of them only.
  if (new Set(query.keys()).size < query.size)
    throw new SignInRefused("no answer to this flow: a parameter is there twice");
  try {
    const code = oauth.validateAuthResponse(server, client, query, state).get("code");
    if (code !== null && code !== "") return code;
  } catch (error) {
    // The errors of the library hold the whole query; anybody may have written it.
    const isVerdict = error instanceof oauth.AuthorizationResponseError;
    throw new SignInRefused(
      isVerdict
        ? "the provider did not let them in"
        : `no answer to this flow: ${error instanceof Error ? error.message : "unknown"}`,
    );
  }
  throw new SignInRefused("no answer to this flow: it has no code");
}

/**
 * The ID token, and the answer of the userinfo endpoint where the claim is there alone (OpenID Connect Core §5.4). The library holds
 * the subject of the second against that of the first (§5.3.2).
 */
async function documentsOf(
  platform: Platform,
  server: oauth.AuthorizationServer,
  tokens: oauth.TokenEndpointResponse,
  claim: string,
  signal: AbortSignal,
): Promise<readonly [idToken: oauth.IDToken, userInfo?: Claims]> {
  const idToken = oauth.getValidatedIdTokenClaims(tokens);
  if (idToken === undefined) throw new Error("the provider has sent no ID token");
  if (has(idToken, claim) || server.userinfo_endpoint === undefined) return [idToken];
  const options = platform.options(signal);
  const response = await oauth.userInfoRequest(server, platform.client, tokens.access_token, options);
  return [idToken, await oauth.processUserInfoResponse(server, platform.client, idToken.sub, response)];
}

/** An address and the word that it is verified count together, from one document: each may be of another time or account. */
function has(claims: Claims, claim: string): boolean {
  return claims[claim] !== undefined && (claim !== "email" || claims.email_verified !== undefined);
}

function personOf(documents: readonly [idToken: oauth.IDToken, userInfo?: Claims], claim: string): Person {
  const [{ sub: subject }] = documents;
  const claimsWith = (name: string): Claims =>
    documents.find((claims) => claims !== undefined && has(claims, name)) ?? {};
  const { email: address, email_verified: verified } = claimsWith("email");
  // Some providers write it as a text.
  const isVerified = verified === true || verified === "true";
  const email = isVerified && typeof address === "string" ? address : null;
  if (claim === "email") return { subject, email, values: email === null ? [] : [email] };
  const values = [claimsWith(claim)[claim]].flat().filter((value) => typeof value === "string");
  return { subject, email, values };
}
