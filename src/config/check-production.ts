import type { Problems } from "./problems.ts";
import { isPublicHost } from "./public-host.ts";
import type { Values } from "./read-variables.ts";

/**
 * What production refuses to start without, each with what to do about it.
 * @param listens false for a command that only signs or calls a receiver: TLS and OAuth are the receiver's
 */
export function checkProduction(
  values: Values,
  handlers: readonly string[],
  listens: boolean,
  problems: Problems,
): void {
  if (values.APP_ENV !== "production") return;
  const { SIGNING_SECRET: secret, CALLBACK_BASE_URL: baseUrl } = values;
  const signed = (values.AUTH_METHOD ?? [["hmac"]]).flat().includes("hmac");
  if (signed && secret === undefined)
    problems.add(["SIGNING_SECRET"], "is not set; production needs the secret shared with the platform", [
      "AUTH_METHOD",
    ]);
  if (values.ENCRYPTION_KEY === undefined) {
    problems.add(
      ["ENCRYPTION_KEY"],
      "is not set; production needs 32 bytes as base64, such as from: openssl rand -base64 32",
    );
  }
  if (values.ADMIN_TOKEN === undefined) {
    problems.add(
      ["ADMIN_TOKEN"],
      "is not set; production needs at least 16 characters, such as from: openssl rand -hex 24",
    );
  }
  if (values.LISTEN === true) {
    problems.add(
      ["LISTEN"],
      "got on, expected off in production: callbacks would be kept and handed out with their credentials. Take it " +
        "away here, and listen to a receiver of another environment",
    );
  }
  checkBaseUrl(baseUrl, problems);
  if (!listens) return;
  if (values.TLS_CERT_FILE === undefined && values.TRUST_PROXY === undefined) {
    problems.add(
      ["TLS_CERT_FILE", "TRUST_PROXY"],
      "neither is set; production needs HTTPS: set TLS_CERT_FILE and TLS_KEY_FILE, " +
        "or TRUST_PROXY to the addresses of the proxy that ends TLS",
    );
  }
  const server = values.OAUTH_ISSUER ?? values.OAUTH_TOKEN_URL;
  if (handlers.includes("user_authorized") && server === undefined) {
    const others = handlers.filter((type) => type !== "user_authorized").join(",");
    problems.add(
      ["OAUTH_ISSUER", "OAUTH_TOKEN_URL"],
      "neither is set, but the handler user_authorized is on; set one of them, " +
        `OAUTH_CLIENT_ID and OAUTH_CLIENT_SECRET, or switch it off with HANDLERS=${others || "none"}`,
      ["HANDLERS"],
    );
  }
}

function checkBaseUrl(baseUrl: string | undefined, problems: Problems): void {
  if (baseUrl === undefined) {
    problems.add(
      ["CALLBACK_BASE_URL"],
      "is not set; production needs the https address that the platform has registered",
    );
    return;
  }
  const url = new URL(baseUrl);
  if (url.protocol !== "https:") {
    problems.add(
      ["CALLBACK_BASE_URL"],
      `got ${JSON.stringify(baseUrl)}, expected an https address in production`,
    );
  }
  if (!isPublicHost(url.hostname)) {
    problems.add(
      ["CALLBACK_BASE_URL"],
      `got ${JSON.stringify(baseUrl)}, expected a host that the platform can reach: not a loopback, ` +
        "private or link-local address, nor a bare name",
    );
  }
}
