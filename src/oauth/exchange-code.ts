import * as oauth from "oauth4webapi";
import type { JsonObject } from "../domain/index.ts";
import { type ExchangeCode, Rejected, type TokenAnswer } from "../handlers/index.ts";

export interface TokenEndpoint {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The same as in the authorization request, where that had one (RFC 6749 §4.1.3). */
  readonly redirectUri?: string;
}

/**
 * The code exchange of RFC 6749 §4.1.3 with client authentication in the header (§2.3.1). Redirects are not
 * followed. Plain HTTP is left to the configuration, which allows it outside production only.
 */
export function createExchange(endpoint: () => TokenEndpoint): ExchangeCode {
  return async (code, signal) => {
    const { tokenUrl, clientId, clientSecret, redirectUri } = endpoint();
    const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
    const client = { client_id: clientId };
    const parameters = redirectUri === undefined ? { code } : { code, redirect_uri: redirectUri };
    const response = await oauth.genericTokenEndpointRequest(
      server,
      client,
      oauth.ClientSecretBasic(clientSecret),
      "authorization_code",
      parameters,
      { signal, [oauth.allowInsecureRequests]: true },
    );
    return tokensFrom(server, client, response);
  };
}

async function tokensFrom(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  response: Response,
): Promise<TokenAnswer> {
  try {
    const tokens = await oauth.processGenericTokenEndpointResponse(server, client, response);
    return tokens as unknown as JsonObject & TokenAnswer;
  } catch (error) {
    // Only the platform's verdict on this code is final; a wrong client secret, say, is ours to mend (§5.2).
    if (error instanceof oauth.ResponseBodyError && error.error === "invalid_grant") {
      throw new Rejected("data.code: the platform does not accept this authorization code", { cause: error });
    }
    throw error;
  }
}
