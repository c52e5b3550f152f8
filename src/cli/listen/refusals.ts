import type { IncomingMessage } from "node:http";
import { Disconnected, type Passes } from "./disconnected.ts";

const NO_RECEIVER = "is --from the CALLBACK_BASE_URL of an Oncehook receiver, with its path?";

/** An answer that no receiver gives. */
export function somethingElse({ origin, pathname }: URL): Disconnected {
  const words = `${origin}${pathname} answered something else than callbacks: ${NO_RECEIVER}`;
  return new Disconnected(words, "where_it_worked");
}

/** An answer that is no stream, and what to do about it. */
export function refusalOf({ statusCode = 0, headers }: IncomingMessage, url: URL): Disconnected {
  const who = `${url.origin} answered ${statusCode}`;
  if (statusCode === 429 || statusCode >= 500) {
    const asked = Number(headers["retry-after"] ?? 0);
    const seconds = Number.isFinite(asked) ? asked : 0;
    const wait = seconds > 0 ? `, and asks to be left alone for ${seconds} s` : "";
    return new Disconnected(`${who}${wait}`, "soon", seconds * 1_000);
  }
  if (statusCode >= 300 && statusCode < 400) {
    const words = `it redirects to ${headers.location ?? "nowhere"}. Give the final address with --from`;
    return new Disconnected(`${who}: ${words}`, "where_it_worked");
  }
  const { says, passes = "where_it_worked" } = REFUSALS[statusCode] ?? {
    says: `nobody expected that there; ${NO_RECEIVER}`,
  };
  return new Disconnected(`${who}: ${says}`, passes);
}

const REFUSALS: Readonly<Record<number, { readonly says: string; readonly passes?: Passes }>> = {
  400: { says: "it does not know this place; take the --state file away, or --since", passes: "never" },
  401: {
    says: "ADMIN_TOKEN here is another than the receiver's. Set it to the receiver's, in the environment or with --env",
    passes: "never",
  },
  403: { says: "it wants https, or its IP_ALLOW_LIST does not name this machine's address" },
  404: {
    says: `nobody can listen there: start that receiver with LISTEN=on, which production refuses; or ${NO_RECEIVER}`,
  },
};

const TLS_CODES =
  /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH|ERR_OSSL)/;

/** Whether the two sides could not agree on TLS, or this one does not believe the other's certificate. */
export function isTlsTrouble(error: unknown): boolean {
  return TLS_CODES.test(codeOf(error));
}

export function tlsAdvice(origin: string, error: unknown): string {
  return (
    `${origin}: TLS failed (${codeOf(error)}). Where its certificate is of an authority of your own, start this command ` +
    "with NODE_EXTRA_CA_CERTS=<its PEM file>; where it speaks plain HTTP, write http:// there"
  );
}

/** Why a connection could not be made, or broke. */
export function troubleOf(error: unknown, url: URL): Disconnected {
  return new Disconnected(troubleWords(error, url), "where_it_worked");
}

function troubleWords(error: unknown, { origin, hostname }: URL): string {
  if (isTlsTrouble(error)) return tlsAdvice(origin, error);
  if (codeOf(error) === "ENOTFOUND")
    return `${origin}: there is no host ${hostname}. Check --from, and this machine's network`;
  if (codeOf(error) === "ECONNREFUSED") return `${origin} takes no connection. Does the receiver run there?`;
  return `${origin} cannot be reached, or broke off: ${codeOf(error)}`;
}

/** The system's word for an error, or the error's own text. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.message;
}
