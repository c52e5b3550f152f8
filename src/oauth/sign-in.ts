import * as oauth from "oauth4webapi";
import { type Clock, errorReason, fromCanonicalBase64url } from "../domain/index.ts";
import type { Encryptor } from "../system/index.ts";
import { authorizationUrl, requestTokens } from "./authorization-code.ts";
import { FLOW_SECONDS, randomSecret } from "./flow.ts";
import { isInvalidGrant, type Platform, withLoggableErrors } from "./platform.ts";

export interface SignInDependencies {
  readonly platform: Platform;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  readonly redirectUri: string;
  /** The claim that decides access. */
  readonly claim: string;
}

/** A person whose identity the provider asserts. */
export interface Identity {
  readonly subject: string;
  /** Null unless the provider says that it is verified. */
  readonly email: string | null;
  /** Of the claim; a mail address that is not verified is none. */
  readonly values: readonly string[];
}

/** The redirect does not complete a sign-in. */
export class SignInRefused extends Error {
  override readonly name = "SignInRefused";
}

/** The browser brought no flow that was started here: any page can send other people's browsers to the redirect. */
export class FlowMissing extends Error {
  override readonly name = "FlowMissing";
}

const TIME_LIMIT_MS = 10_000;
const CONTEXT = "operator's sign-in";

interface SignInFlow {
  readonly state: string;
  readonly codeVerifier: string;
  readonly nonce: string;
  readonly endsAt: number;
  readonly returnTo: string;
  readonly earlierSession?: string | undefined;
}

type Claims = Readonly<Record<string, unknown>>;

export type SignIn = ReturnType<typeof createSignIn>;
export type SignInResult = Awaited<ReturnType<SignIn["end"]>>;

/**
 * Signs operators in by the authorization code flow of OpenID Connect Core §3.1. It uses PKCE, state, nonce and the check of
 * `iss` (RFC 9207). The browser's cookie holds the flow's data, encrypted: a client that starts flows fills no table.
 */
export function createSignIn(deps: SignInDependencies) {
  const { platform, encryptor, clock, redirectUri } = deps;
  return {
    /**
     * @param returnTo where to go on to in the end; at most a thousand bytes
     * @param earlierSession the hash of the browser's session, whose cookie does not come with the provider's redirect
     * @returns `flow` for the browser to bring back: encrypted, and of use for FLOW_SECONDS
     * @throws Error when the provider cannot be discovered
     */
    async begin(returnTo: string, earlierSession?: string) {
      const { authorization_endpoint: endpoint } = await platform.server();
      if (endpoint === undefined)
        throw new Error(`${platform.settings.issuer}: its discovery names no authorization_endpoint`);
      const flow: SignInFlow = {
        state: randomSecret(),
        codeVerifier: randomSecret(),
        nonce: randomSecret(),
        endsAt: clock.now().getTime() + FLOW_SECONDS * 1000,
        returnTo,
        earlierSession,
      };
      const parameters = { ...flow, redirectUri, responseMode: "query" } as const;
      const location = await authorizationUrl(endpoint, platform, parameters);
      const encrypted = encryptor.encrypt(Buffer.from(JSON.stringify(flow)), CONTEXT);
      return { location, flow: Buffer.from(encrypted).toString("base64url") };
    },
    /**
     * @param query what the provider sent the browser back with
     * @param encrypted what `begin` gave to the same browser; undefined where it brings none
     * @returns `returnTo` and `earlierSession` as `begin` got them
     * @throws FlowMissing where there is none of ours; SignInRefused where it is no answer to this flow, or a refusal; otherwise what
     * the provider could not do
     */
    async end(query: URLSearchParams, encrypted: string | undefined) {
      const flow = decryptedFlow(encrypted, encryptor, clock);
      const { returnTo, earlierSession } = flow;
      return { identity: await identify(query, flow, deps), returnTo, earlierSession };
    },
  };
}

function decryptedFlow(flow: string | undefined, encryptor: Encryptor, clock: Clock): SignInFlow {
  if (flow === undefined) throw new FlowMissing("the browser brought none");
  const encrypted = fromCanonicalBase64url(flow);
  if (encrypted === undefined) throw new FlowMissing("the flow was not started here");
  let found: SignInFlow;
  try {
    found = JSON.parse(Buffer.from(encryptor.decrypt(encrypted, CONTEXT)).toString("utf8"));
  } catch (cause) {
    throw new FlowMissing("the flow was not started here", { cause });
  }
  if (found.endsAt <= clock.now().getTime()) throw new SignInRefused("the flow was started too long ago");
  return found;
}

async function identify(query: URLSearchParams, flow: SignInFlow, deps: SignInDependencies): Promise<Identity> {
  const { platform, redirectUri, claim } = deps;
  const { codeVerifier, nonce } = flow;
  const server = await platform.server();
  const code = validCode(server, platform, query, flow.state);
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  const grant = { code, flow: { code_verifier: codeVerifier, nonce, redirect_uri: redirectUri } };
  try {
    return await withLoggableErrors(async () => {
      const tokens = await requestTokens(platform, server, grant, redirectUri, signal);
      const idToken = oauth.getValidatedIdTokenClaims(tokens);
      if (idToken === undefined) throw new Error("the provider has sent no ID token");
      if (has(idToken, claim) || server.userinfo_endpoint === undefined) return identityOf([idToken], claim);
      // Only that endpoint has the claim (OpenID Connect Core §5.4). The library compares the two subjects (§5.3.2).
      const { client } = platform;
      const options = platform.options(signal);
      const response = await oauth.userInfoRequest(server, client, tokens.access_token, options);
      const userInfo = await oauth.processUserInfoResponse(server, client, idToken.sub, response);
      return identityOf([idToken, userInfo], claim);
    });
  } catch (error) {
    if (isInvalidGrant(error)) throw new SignInRefused("the provider does not accept the code", { cause: error });
    throw error;
  }
}

/** RFC 9207 and RFC 6749 §4.1.2: the issuer, the state, no error, and a code. */
function validCode(server: oauth.AuthorizationServer, { client }: Platform, query: URLSearchParams, state: string) {
  // RFC 6749 §3.1; the library looks at some of them only.
  if (new Set(query.keys()).size < query.size)
    throw new SignInRefused("no answer to this flow: a parameter is there twice");
  try {
    const code = oauth.validateAuthResponse(server, client, query, state).get("code");
    if (code !== null && code !== "") return code;
  } catch (error) {
    // The library's errors contain the whole query, which any client may have written.
    if (error instanceof oauth.AuthorizationResponseError) throw new SignInRefused("the provider did not let them in");
    throw new SignInRefused(`no answer to this flow: ${errorReason(error)}`);
  }
  throw new SignInRefused("no answer to this flow: it has no code");
}

/** An address and its `email_verified` count together, from one document: each may be of another time or account. */
function has(claims: Claims, claim: string): boolean {
  return claims[claim] !== undefined && (claim !== "email" || claims.email_verified !== undefined);
}

function identityOf(documents: readonly [oauth.IDToken, Claims?], claim: string): Identity {
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
