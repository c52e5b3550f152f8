import { type Diagnosis, type DiagnosisCode, diagnosisOf, type Remedies } from "../../domain/index.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import type { SignedSource } from "./candidates.ts";

/** The function of a source's secrets returned none. Any sender can name any tenant. */
export function unknownTenant(code: DiagnosisCode, option: string, tenant: string, title: string): Diagnosis {
  const message = `The function \`${option}\` returned none for ${tenant}.`;
  const remedy = `If ${tenant} is a tenant of yours, let the function return what ${title} shows for it. Otherwise ignore this.`;
  return diagnosisOf([{ code, message }], false, { [code]: remedy });
}

/** The remedies of each code at a source, in its platform's words. @param tenant empty for a path without parameters */
export function remediesOf(source: SignedSource & { readonly hmac: HmacData | undefined }, tenant: string): Remedies {
  const { title, hmac, secrets, secretName, name, isOwn } = source;
  const isOfTenant = tenant !== "" && secrets().length === 0;
  const secret = isOfTenant ? `the secret that the source's function returned for ${tenant}` : secretName(0);
  const compare = `Compare ${secret} with the one that ${title} shows for the endpoint URL of this source.`;
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
