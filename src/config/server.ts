import { isLoopbackHost, isPublicHost } from "./public-host.ts";
import type { Reading } from "./read-variables.ts";
import { cidrs, httpUrl, oneOf, port, rateLimit, text, type VariableTable, wholeNumber } from "./variable.ts";

const address = text("an address to listen on");

export const SERVER_VARIABLES = {
  APP_ENV: { schema: oneOf("development", "test", "production"), default: "development" },
  CALLBACK_BASE_URL: {
    schema: httpUrl.describe("an http(s) address without query or fragment; in production a public https one"),
    defaultText: "outside production, the listener's own",
    neededInProduction: "the https address that platforms have registered",
  },
  HOST: { schema: address, defaultText: "127.0.0.1; with TLS or a trusted proxy 0.0.0.0" },
  PORT: { schema: port, default: "8080" },
  TLS_CERT_FILE: { schema: text("a PEM file with the certificate chain"), with: ["TLS_KEY_FILE"] },
  TLS_KEY_FILE: { schema: text("a PEM file with the private key") },
  TRUST_PROXY: { schema: cidrs },
  IP_ALLOW_LIST: { schema: cidrs, defaultText: "every address" },
  CAPTURE: {
    schema: oneOf("on", "off")
      .transform((value) => value === "on")
      .describe("on or off; in production off"),
    default: "off",
  },
} satisfies VariableTable;

/** 0 is ambiguous: it could mean no requests or no limit. */
const rateHint = (raw: string) =>
  /^0+(\/|$)/.test(raw)
    ? "a count of at least 1: 0 would refuse every request, and off switches the limit off"
    : undefined;

export const LIMIT_VARIABLES = {
  RATE_LIMIT_DEFAULT: { schema: rateLimit, hint: rateHint, default: "100/hour" },
  RATE_LIMIT_CALLBACK: { schema: rateLimit, hint: rateHint, default: "10/minute" },
  RATE_LIMIT_STORE: { schema: oneOf("memory", "database"), default: "memory" },
  REQUEST_TIMEOUT_MS: { schema: wholeNumber(100, 600_000), default: "30000" },
  MAX_WAITING_CALLBACKS: { schema: wholeNumber(1, 100_000), default: "1000" },
  MAX_BODY_BYTES: { schema: wholeNumber(1_024, 67_108_864), default: "1048576" },
  MAX_UNVERIFIED_BYTES: { schema: wholeNumber(1_024, 4_294_967_296, ", at least MAX_BODY_BYTES"), default: "67108864" },
  MAX_CONNECTIONS: { schema: wholeNumber(8, 1_000_000), default: "2048" },
  MAX_CONNECTIONS_PER_ADDRESS: { schema: wholeNumber(1, 1_000_000), default: "1024" },
} satisfies VariableTable;

type ServerReading = Reading<typeof SERVER_VARIABLES & typeof LIMIT_VARIABLES>;

export function serverOf(reading: ServerReading, listens: boolean) {
  const { values } = reading;
  const hasHttps = values.TLS_CERT_FILE !== undefined || values.TRUST_PROXY !== undefined;
  const host = values.HOST ?? (hasHttps ? "0.0.0.0" : "127.0.0.1");
  checkHttps(reading, host, listens);
  checkBaseUrl(reading);
  const { MAX_UNVERIFIED_BYTES: all, MAX_BODY_BYTES: body } = values;
  if (all < body) {
    const message = `got ${all}, expected at least MAX_BODY_BYTES (${body}), so that a body of that size can arrive`;
    reading.problems.add(["MAX_UNVERIFIED_BYTES"], message, ["MAX_BODY_BYTES"]);
  }
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = values;
  const tls = certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : undefined;
  const listen = { host, port: values.PORT, trustProxy: values.TRUST_PROXY ?? [], tls };
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const origin = `${tls === undefined ? "http" : "https"}://${name.includes(":") ? `[${name}]` : name}:${values.PORT}`;
  const baseUrl = (values.CALLBACK_BASE_URL ?? origin).replace(/\/+$/, "");
  return {
    environment: values.APP_ENV,
    /** Without a slash at the end. */
    baseUrl,
    /** False where it is the listener's own address, which changes with the port. */
    isBaseUrlGiven: values.CALLBACK_BASE_URL !== undefined,
    basePath: new URL(baseUrl).pathname.replace(/\/+$/, ""),
    captureEnabled: values.CAPTURE,
    listen,
    limits: {
      default: values.RATE_LIMIT_DEFAULT,
      callback: values.RATE_LIMIT_CALLBACK,
      store: values.RATE_LIMIT_STORE,
    },
    requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
    maxWaitingCallbacks: values.MAX_WAITING_CALLBACKS,
    maxBodyBytes: values.MAX_BODY_BYTES,
    maxUnverifiedBytes: values.MAX_UNVERIFIED_BYTES,
    connections: { max: values.MAX_CONNECTIONS, maxPerAddress: values.MAX_CONNECTIONS_PER_ADDRESS },
    ipAllowList: values.IP_ALLOW_LIST ?? null,
  };
}

function checkHttps({ values, isProduction, problems }: ServerReading, host: string, listens: boolean): void {
  if (isProduction && values.CAPTURE)
    problems.add(
      ["CAPTURE"],
      "got on, expected off in production: callbacks would be stored and handed out with their credentials. Remove it " +
        "here, and listen to a receiver of another environment",
    );
  if (values.TLS_CERT_FILE !== undefined || values.TRUST_PROXY !== undefined) return;
  if (isProduction && listens)
    problems.add(
      ["TLS_CERT_FILE", "TRUST_PROXY"],
      "neither is set; production needs HTTPS: set TLS_CERT_FILE and TLS_KEY_FILE, " +
        "or TRUST_PROXY to the addresses of the proxy that ends TLS",
    );
  // Production needs HTTPS whatever the host is.
  if (!isProduction && !isLoopbackHost(host))
    problems.add(
      ["HOST"],
      `got ${JSON.stringify(host)}, expected a loopback address: without TLS_CERT_FILE or TRUST_PROXY ` +
        "plain HTTP is served to this machine only",
      ["TLS_CERT_FILE", "TRUST_PROXY", "APP_ENV"],
    );
}

function checkBaseUrl({ values, isProduction, problems }: ServerReading): void {
  const { CALLBACK_BASE_URL: baseUrl } = values;
  if (baseUrl === undefined) return;
  const { search, protocol, hostname } = new URL(baseUrl);
  const add = (message: string) => problems.add(["CALLBACK_BASE_URL"], message);
  if (search !== "") add("got an address with a query, expected one without");
  if (!isProduction) return;
  const got = `got ${JSON.stringify(baseUrl)}, expected`;
  if (protocol !== "https:") add(`${got} an https address in production`);
  if (!isPublicHost(hostname))
    add(`${got} a host that platforms can reach: not a loopback, private or link-local address, nor a bare name`);
}
