import { checkDistinct } from "./check-distinct.ts";
import type { Problems } from "./problems.ts";
import { isLoopbackHost } from "./public-host.ts";
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
  together(values, ["TLS_CERT_FILE", "TLS_KEY_FILE"], problems);
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
export function together(values: Values, names: readonly (keyof Values)[], problems: Problems): void {
  const missing = names.filter((name) => values[name] === undefined && !problems.has(name));
  if (missing.length === 0 || missing.length === names.length) return;
  const others = names.filter((name) => !missing.includes(name));
  problems.add(missing, `is not set, expected together with ${others.join(", ")}`);
}
