import type { ContractData } from "../contract/event-contract.ts";
import type { CredentialPlaces } from "../schemes/scheme.ts";

/** The proof of a callback, for a sentence. */
export function credentialPhrase({ headers = [], fields = [], areUnknown }: CredentialPlaces): string {
  if (areUnknown) return "a function of the configuration";
  if (headers.length > 0) return `the header ${headers.join(" or ")}`;
  return fields.length > 0 ? `\`${fields.join("` or `")}\` in its body` : "its body";
}

/** A verify token, and a secret that a handshake brings, prove as much as a signature. */
export function withHandshakes(
  { headers = [], fields = [], ...others }: CredentialPlaces,
  { handshakes = [] }: ContractData,
): CredentialPlaces {
  const places = handshakes.flatMap(({ verifyToken, reply }) => [
    ...(verifyToken === undefined ? [] : [verifyToken.at]),
    ...(reply.kind === "learn" ? [reply.at] : []),
  ]);
  const read = namesAt(places);
  return { ...others, headers: [...headers, ...read.headers], fields: [...fields, ...read.fields] };
}

/** @param places such as `header.X-Acme-Token`, `query.token` and `body.proof` */
export function namesAt(places: readonly string[]): Required<Pick<CredentialPlaces, "headers" | "fields">> {
  const inBody = /^(?:body|item|parent)\b.*[.\]]/;
  const names = (isHeader: boolean) =>
    places
      .filter((place) => place.startsWith("header.") === isHeader)
      .map((place) => place.replace(inBody, "").replace(/^(?:header|query)\./, ""));
  return { headers: names(true), fields: names(false) };
}
