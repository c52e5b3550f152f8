/** Why no answer came. */
export interface Trouble {
  readonly says: string;
  /** Whether the request may have been received all the same. */
  readonly mayHaveArrived: boolean;
}

const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired: renew it, and see that the server took the new one",
  CERT_NOT_YET_VALID: "is not valid yet: look at its dates, and at the clock of this machine",
  DEPTH_ZERO_SELF_SIGNED_CERT: "is self-signed, which no platform believes: get one of a public authority",
  SELF_SIGNED_CERT_IN_CHAIN:
    "comes from an authority of somebody's own, which no platform knows: get one of a public authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "cannot be traced to an authority: the server does not send the intermediate certificates. Give it the full chain",
  UNABLE_TO_GET_ISSUER_CERT:
    "cannot be traced to an authority: a certificate between is missing. Give the server the full chain",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    "comes from an authority that is not known here, and so probably to no platform: get one of a public authority",
  CERT_REVOKED: "was revoked: get another one",
};
const OF_A_CERTIFICATE =
  /^(?:CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/** An error of a connection in words for who registers the address. @param timeLimitMs after which it was given up */
export function troubleOf(error: unknown, url: URL, timeLimitMs: number): Trouble {
  const code = codeOf(error);
  if (code === "TimeoutError") {
    const says =
      `${placeOf(url)} did not answer within ${timeLimitMs / 1_000} s. Does a firewall drop what comes to this port, or does the ` +
      "server wait for something?";
    return { says, mayHaveArrived: true };
  }
  if (["ECONNRESET", "EPIPE", "HPE_INVALID_EOF_STATE"].includes(code)) {
    const says = `${placeOf(url)} ended the connection without an answer (${code}).`;
    return { says, mayHaveArrived: true };
  }
  return { says: wordsOf(code, error, url), mayHaveArrived: false };
}

function wordsOf(code: string, error: unknown, url: URL): string {
  const name = url.hostname;
  switch (code) {
    case "ENOTFOUND":
      return `The name ${name} does not resolve: there is no address of it in the DNS that this machine asks. Add the record, or correct CALLBACK_BASE_URL.`;
    case "EAI_AGAIN":
      return `The name ${name} could not be looked up: this machine's DNS server does not answer.`;
    case "ECONNREFUSED":
      return `${placeOf(url)} refuses connections: nothing listens there. Start the proxy or the receiver, or open the port.`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `There is no way from this machine to ${placeOf(url)} (${code}).`;
    case "ETIMEDOUT":
      return `${placeOf(url)} takes no connection in time. Does a firewall drop what comes to this port?`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `The certificate of ${placeOf(url)} is not for ${name}, but for ${namesIn(error)}: get one with this name.`;
  }
  const certificate = CERTIFICATE[code];
  if (certificate !== undefined) return `The certificate of ${placeOf(url)} ${certificate}.`;
  if (OF_A_CERTIFICATE.test(code)) return `The certificate of ${placeOf(url)} is not believed: ${code}.`;
  if (/^(?:ERR_SSL_|ERR_TLS_|EPROTO)/.test(code))
    return `${placeOf(url)} does not speak TLS as it is spoken today (${code}). Does it serve plain HTTP on this port?`;
  if (code.startsWith("HPE_")) return `${placeOf(url)} answers with something that is not HTTP (${code}).`;
  return `${placeOf(url)} could not be reached: ${code}.`;
}

/** Host and port, which is said also where it is the usual one: firewalls know ports. */
function placeOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}

function namesIn(error: unknown): string {
  const { cert } = error as { cert?: { subjectaltname?: string } };
  return cert?.subjectaltname ?? "no name at all";
}

/** The system's word for an error, or its name: that of the end of the time is TimeoutError, and its code a number. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
