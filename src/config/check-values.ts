import type { Config } from "./config.ts";
import { checkDistinct } from "./distinct-secrets.ts";
import type { Problems } from "./problems.ts";
import { isLoopbackHost, isPublicHost } from "./public-host.ts";
import type { Values } from "./read-variables.ts";

const LEAST_SECRET_BYTES = 16;
/** Of the secret that signs from now on; one that is rotated out may be older than this bound. */
const PRODUCTION_SECRET_BYTES = 32;
export const DEFAULT_UNVERIFIED_BYTES = 67_108_864;
const DEFAULT_BODY_BYTES = 1_048_576;

/** What must fit together in every environment. */
export function checkValues(values: Values, host: string, times: Times, problems: Problems): void {
  const isProduction = values.APP_ENV === "production";
  checkSecret(
    "SIGNING_SECRET",
    isProduction ? PRODUCTION_SECRET_BYTES : LEAST_SECRET_BYTES,
    values,
    problems,
  );
  checkSecret("SIGNING_SECRET_PREVIOUS", LEAST_SECRET_BYTES, values, problems);
  checkDistinct(values, problems);
  requireTogether(values, ["TLS_CERT_FILE", "TLS_KEY_FILE"], problems);
  const hasHttps = values.TLS_CERT_FILE !== undefined || values.TRUST_PROXY !== undefined;
  // Production asks for HTTPS whatever the host is.
  if (!hasHttps && !isLoopbackHost(host) && values.APP_ENV !== "production") {
    problems.add(
      ["HOST"],
      `got ${JSON.stringify(host)}, expected a loopback address: without TLS_CERT_FILE or TRUST_PROXY ` +
        "plain HTTP is served to this machine only",
      ["TLS_CERT_FILE", "TRUST_PROXY", "APP_ENV"],
    );
  }
  if (times.handlerTimeoutMs >= times.requestTimeoutMs) {
    problems.add(
      ["HANDLER_TIMEOUT_MS"],
      `got ${times.handlerTimeoutMs}, expected less than REQUEST_TIMEOUT_MS (${times.requestTimeoutMs})`,
      ["REQUEST_TIMEOUT_MS"],
    );
  }
  const {
    MAX_BODY_BYTES: body = DEFAULT_BODY_BYTES,
    MAX_UNVERIFIED_BYTES: bytes = DEFAULT_UNVERIFIED_BYTES,
  } = values;
  if (bytes < body) {
    problems.add(
      ["MAX_UNVERIFIED_BYTES"],
      `got ${bytes}, expected at least MAX_BODY_BYTES (${body}), so that a body of that size can arrive`,
      ["MAX_BODY_BYTES"],
    );
  }
  if (values.CALLBACK_BASE_URL !== undefined && new URL(values.CALLBACK_BASE_URL).search !== "") {
    problems.add(["CALLBACK_BASE_URL"], "got an address with a query, expected one without");
  }
}

interface Times {
  readonly handlerTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

function checkSecret(
  name: "SIGNING_SECRET" | "SIGNING_SECRET_PREVIOUS",
  least: number,
  values: Values,
  problems: Problems,
): void {
  const secret = values[name];
  if (secret === undefined) return;
  const bytes = Buffer.byteLength(secret);
  if (bytes < least) {
    const where = least === PRODUCTION_SECRET_BYTES ? " in production" : "";
    problems.add([name], `got a value of ${bytes} bytes, expected at least ${least} bytes${where}`);
  }
  if (secret.trim() !== secret) problems.add([name], "got a value with white space around it, expected none");
}

/** Variables that mean nothing without each other. */
export function requireTogether(values: Values, names: readonly (keyof Values)[], problems: Problems): void {
  const missing = names.filter((name) => values[name] === undefined && !problems.has(name));
  if (missing.length === 0 || missing.length === names.length) return;
  const others = names.filter((name) => !missing.includes(name));
  problems.add(missing, `is not set, expected together with ${others.join(", ")}`);
}

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
  if (values.CAPTURE === true) {
    problems.add(
      ["CAPTURE"],
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

const EVERY_ADDRESS: readonly string[] = ["0.0.0.0", "::"];

/** Two listeners cannot share a port of one address, nor of all addresses and one of them. */
export function checkDistinctPorts(
  listen: Config["listen"],
  admin: Pick<Config["admin"], "host" | "port">,
  problems: Problems,
): void {
  if (listen.port !== admin.port || listen.port === 0) return;
  const apart =
    listen.host !== admin.host && ![listen.host, admin.host].some((host) => EVERY_ADDRESS.includes(host));
  if (apart) return;
  const says = `got ${admin.port}, expected another port than PORT: the two listeners need one each`;
  problems.add(["ADMIN_PORT"], says, ["PORT"]);
}
