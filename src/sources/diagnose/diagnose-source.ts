import {
  type Diagnosis,
  type DiagnosisCode,
  diagnosisOf,
  type FaultCode,
  type Refused,
  type Remedies,
} from "../../domain/index.ts";
import { asSentTo } from "../presets/registered-url.ts";
import type { SignedRequest } from "../request.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import { isTenantUnknown, tenantIn } from "../schemes/tenant-scheme.ts";
import type { SignedSource } from "./candidates.ts";
import { createSignatureDiagnosis } from "./diagnose-signature.ts";

interface DiagnosedSource extends SignedSource {
  /** Undefined where it does not sign by HMAC: the refusal's own words are all there is then. */
  readonly hmac: HmacData | undefined;
  /** The registered address, where a proxy maps it to another path. */
  readonly url?: string | undefined;
}

/** @returns undefined where the refusal is no matter of authenticity */
export type DiagnoseSource = (refusal: Refused, request: SignedRequest) => Diagnosis | undefined;

/** The refusals that have a diagnosis, and its code where nothing else is found. */
export const CODES: Partial<Record<FaultCode, DiagnosisCode>> = {
  signature_missing: "missing",
  signature_repeated: "repeated",
  signature_malformed: "malformed",
  signature_mismatch: "unknown",
  timestamp_missing: "timestamp",
  timestamp_stale: "timestamp",
  token_missing: "missing",
  token_repeated: "repeated",
  token_mismatch: "token_mismatch",
  jwt_malformed: "jwt_malformed",
  jwt_signature: "jwt_signature",
  jwt_claims: "jwt_claims",
  jwt_body_mismatch: "body_changed",
};

/** Explains the refusals of one source in its platform's words: its headers, its secrets, and what it signs. */
export function createSourceDiagnosis({ url, ...given }: DiagnosedSource): DiagnoseSource {
  const source = url === undefined ? given : { ...given, origin: () => new URL(url).origin };
  const { title, hmac } = source;
  const bySignature = hmac === undefined ? undefined : createSignatureDiagnosis(hmac, source);
  return (refusal, arrived) => {
    const request = url === undefined ? arrived : asSentTo(url, arrived);
    const { code, detail, message } = refusal;
    const found = CODES[code];
    if (found === undefined) return undefined;
    const tenant = tenantIn(request);
    if (isTenantUnknown(refusal)) return unknownTenant(found, refusal.tenantOption, tenant, title);
    const remedies = remediesOf(source, tenant);
    if (code.startsWith("signature_") && bySignature !== undefined) return bySignature(request, remedies);
    const said = found === "timestamp" ? "The timestamp was refused" : `${title} was not recognized`;
    // A stale timestamp is looked at once the signature has fitted, and a claim once a key has.
    const confirmed = code === "timestamp_stale" || code === "jwt_claims";
    return diagnosisOf([{ code: found, message: `${said}: ${detail ?? message}.` }], confirmed, remedies);
  };
}

function unknownTenant(code: DiagnosisCode, option: string, tenant: string, title: string): Diagnosis {
  const message = `The function \`${option}\` returned none for ${tenant}.`;
  const remedy = `If ${tenant} is a tenant of yours, let the function return what ${title} shows for it. Otherwise ignore this.`;
  // Any sender can name any tenant.
  return diagnosisOf([{ code, message }], false, { [code]: remedy });
}

/** @param tenant empty for a source whose path has no parameters */
function remediesOf(source: DiagnosedSource, tenant: string): Remedies {
  const { title, hmac, secrets, secretName, name, isOwn } = source;
  const isOfTenant = tenant !== "" && secrets().length === 0;
  const secret = isOfTenant ? `the secret that the source's function returned for ${tenant}` : secretName(0);
  const compare = `Compare ${secret} with the one that ${title} shows for this address, and this environment.`;
  const headers = [hmac?.signature.header ?? []].flat().join(", ");
  const where = headers === "" ? "its signature" : `\`${headers}\``;
  const remedies: Remedies = {
    other_content: `${title} signs ${hmac?.signed ?? "something else"}: check that the sender is ${title}, and CALLBACK_BASE_URL where the address is signed.`,
    previous_secret: `Set the former secret beside ${secret} for a rotation, or enter the new one at ${title}.`,
    other_environment: `At ${title}, give each environment an address and a secret of its own.`,
    secret_format: `Enter ${secret} exactly as ${title} shows it, without quotes or a line break.`,
    unknown: `${compare} If the caller is not ${title}, ignore this.`,
    other_header: `${title} sends ${where}: another platform calls this address, or a proxy has renamed the header.`,
    prefix: `Let proxies pass ${where} on as ${title} sends it.`,
    encoding: `Let the sender encode its signature as ${title} does.`,
    malformed: `Let proxies pass ${where} on as ${title} sends it.`,
    missing: `Turn signing on at ${title}, and let proxies pass ${where} on. If the caller is not ${title}, ignore this.`,
    timestamp: "Set this machine's clock (NTP). A callback that came late is sent again by its platform.",
    token_mismatch: compare,
    jwt_malformed: `Check that the sender is ${title}.`,
    jwt_signature: `Compare the keys of this source with those of ${title}.`,
    jwt_claims: `Compare the options of this source with what is set at ${title}; set this machine's clock (NTP).`,
  };
  if (!isOwn) return remedies;
  const option = `the \`signature\` of source ${name}`;
  return {
    ...remedies,
    other_content: `Set \`signed\` of source ${name} to what its sender signs; it is ${hmac?.signed}.`,
    other_header: `Set \`header\` in ${option} to the one that its sender sends.`,
    prefix: `Set \`prefix\` in ${option} to what its sender puts before the digest.`,
    encoding: `Set \`encoding\` in ${option} to that of its sender.`,
    malformed: `Compare \`algorithm\`, and \`encoding\` and \`prefix\` in ${option}, with what its sender sends.`,
    secret_format: `Set \`key\` of source ${name}, or ${secret}, so that both sides have the same bytes.`,
  };
}
