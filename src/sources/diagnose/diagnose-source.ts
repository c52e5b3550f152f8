import { timingSafeEqual } from "node:crypto";
import {
  type Diagnosis,
  type DiagnosisCode,
  diagnosisOf,
  type FaultCode,
  type Finding,
  isRefused,
  type Refused,
  type Remedies,
} from "../../domain/index.ts";
import { asSentTo } from "../presets/registered-url.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import { refusalsOf } from "../schemes/hmac-refusal.ts";
import { type Content, createDigester } from "../schemes/keyed-digest.ts";
import type { SignedRequest } from "../schemes/scheme.ts";
import { keysOf } from "../schemes/secret-keys.ts";
import { compileContent } from "../schemes/signed-content.ts";
import { isTenantUnknown, tenantIn } from "../schemes/tenant-scheme.ts";
import {
  anotherSecret,
  confirmedFindings,
  covers,
  firstValue,
  guessFrom,
  MAX_VARIED_BYTES,
  type NamedSecret,
  rewrittenBodies,
  secretFormats,
  TIMESTAMPS,
} from "./diagnose-signature.ts";
import { compileOffered } from "./offered-to-source.ts";

export interface DiagnosedSource {
  /** As it is configured. */
  readonly name: string;
  /** The platform's name, such as `Stripe`; that of a source of one's own. */
  readonly title: string;
  /** Described in the configuration: its options may be wrong, and not only what the sender sends. */
  readonly isOwn: boolean;
  /** Undefined where it does not sign by HMAC: the refusal's own words are all there is then. */
  readonly hmac: HmacData | undefined;
  /** Those that are accepted now, the current one first. */
  readonly secrets: () => readonly string[];
  /** What an operator calls one of them. */
  readonly secretName: (index: number) => string;
  readonly named: readonly NamedSecret[];
  /** Those of other sources of the same platform, by the names of these sources. */
  readonly others: readonly NamedSecret[];
  readonly origin: () => string;
  /** The registered address, where a proxy maps it to another path. */
  readonly url?: string | undefined;
}

export type DiagnoseSource = (refusal: Refused, request: SignedRequest) => Diagnosis | undefined;

interface Candidate {
  readonly key: Uint8Array;
  readonly content: Content;
  readonly findings: readonly Finding[];
  readonly remedy?: Remedies;
}

/** As many digests as a diagnosis of the specification's platform costs at most. */
const MAX_CANDIDATES = 76;
/** A platform may have a source for each of many accounts. */
const MAX_OTHERS = 16;
/** With more secrets the others are tried as they are, and with no changes. */
const MAX_VARIED_SECRETS = 2;

/** What platforms sign other than this one does, in words that follow "The signature covers". */
const OTHER_CONTENT: Readonly<Record<string, string>> = {
  "{body}": "the body alone",
  "{timestamp}.{body}": "the timestamp, a dot and the body",
  "{timestamp}{body}": "the timestamp followed by the body",
  "{timestamp}:{body}": "the timestamp, a colon and the body",
  "{url}{body}": "the address followed by the body",
};

const CODES: Partial<Record<FaultCode, DiagnosisCode>> = {
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
  // A stranger can name any tenant.
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

function createSignatureDiagnosis(data: HmacData, source: DiagnosedSource) {
  const readOffered = compileOffered(data);
  const { algorithm = "sha256" } = data;
  const candidatesFor = compileCandidates(data, source);
  const { name, isOwn } = source;
  return (request: SignedRequest, common: Remedies): Diagnosis => {
    const { digests, findings, prefix, timestamp } = readOffered(request.headers);
    const own = `Set \`prefix: "${prefix}"\` in the \`signature\` of source ${name}.`;
    const remedies = isOwn && prefix !== undefined ? { ...common, prefix: own } : common;
    const known = timestamp ?? firstValue(request.headers, TIMESTAMPS);
    let left = digests.length === 0 ? 0 : MAX_CANDIDATES;
    for (const { key, content, findings: how, remedy } of candidatesFor(request, known)) {
      if (left === 0) break;
      left -= 1;
      const right = createDigester(algorithm, key)(content);
      const isRight = digests.some(({ length }, at) => {
        const claimed = digests[at];
        return claimed !== undefined && length === right.length && timingSafeEqual(right, claimed);
      });
      if (!isRight) continue;
      const all = confirmedFindings(findings, how);
      return diagnosisOf(all.length === 0 ? [RIGHT_NOW] : all, true, { ...remedies, ...remedy });
    }
    // Another platform's header says enough: its secret is not expected here.
    const isOther = findings.some(({ code }) => code === "other_header");
    const guess = digests.length > 0 && !isOther ? [guessFrom(request.body)] : [];
    return diagnosisOf([...findings, ...guess], false, remedies);
  };
}

/** With no finding the secret was learnt since, or the refusal was of an earlier one. */
const RIGHT_NOW: Finding = { code: "unknown", message: "The signature is correct by now." };

/** Everything that is tried, the likeliest first. */
function compileCandidates(data: HmacData, source: DiagnosedSource) {
  const { name: sourceName, title, secrets, secretName, named, origin } = source;
  const others = source.others.slice(0, MAX_OTHERS);
  const options = { origin, refuse: refusalsOf({}), parts: data.parts };
  const own = compileContent(data.signed, options);
  const template = data.signed;
  const otherContents = Object.entries(own.holdsKey ? {} : OTHER_CONTENT)
    .filter(([other]) => other !== template)
    .map(([other, what]) => ({ what, content: compileContent(other, options) }));
  const readFrom = (content: typeof own, request: SignedRequest, time: string | undefined) => {
    if (content.hasTimestamp && time === undefined) return undefined;
    const bytes = content.read?.(request, time) ?? request.body;
    return !Array.isArray(bytes) && !(bytes instanceof Uint8Array) && isRefused(bytes)
      ? undefined
      : (bytes as Content);
  };

  function ofOtherSource(name: string): Required<Pick<Candidate, "findings" | "remedy">> {
    const message = `The signature was made with the secret of source ${name}: are the addresses swapped?`;
    const remedy = `At ${title}, compare the addresses of both sources, and the one that it shows for ${sourceName} with ${secretName(0)}.`;
    return { findings: [{ code: "other_environment", message }], remedy: { other_environment: remedy } };
  }

  function* variedSecrets(content: Content): Generator<Candidate> {
    for (const [index, secret] of secrets().slice(0, MAX_VARIED_SECRETS).entries()) {
      for (const { key, finding } of secretFormats(secret, secretName(index)))
        yield { key: Buffer.from(key), content, findings: [finding] };
      if (data.key === undefined || data.key === "text") continue;
      const message = `The signature was made with ${secretName(index)} as it is, without decoding it.`;
      yield { key: Buffer.from(secret), content, findings: [{ code: "secret_format", message }] };
    }
  }

  return function* candidatesFor(request: SignedRequest, time: string | undefined): Generator<Candidate> {
    const keys = secrets().flatMap((secret) => keyOf(secret, data));
    const content = readFrom(own, request, time);
    if (content !== undefined) {
      for (const key of keys) yield { key, content, findings: [] };
      for (const { name, secret } of named)
        for (const key of keyOf(secret, data)) yield { key, content, findings: [anotherSecret(name)] };
      for (const { name, secret } of others)
        for (const key of keyOf(secret, data)) yield { key, content, ...ofOtherSource(name) };
    }
    if (request.body.length > MAX_VARIED_BYTES) return;
    const varied = keys.slice(0, MAX_VARIED_SECRETS);
    if (content !== undefined) yield* variedSecrets(content);
    for (const { what, content: other } of otherContents) {
      const bytes = readFrom(other, request, time);
      if (bytes === undefined) continue;
      for (const key of varied) yield { key, content: bytes, findings: [covers(what)] };
    }
    for (const at of template.includes("{url}") ? originsOf(request) : []) {
      const bytes = readFrom(compileContent(template, { ...options, origin: () => at }), request, time);
      const what = `an address that begins with ${at}, and CALLBACK_BASE_URL with ${origin()}`;
      if (bytes !== undefined)
        for (const key of varied) yield { key, content: bytes, findings: [covers(what)] };
    }
    for (const { text, how } of rewrittenBodies(request.body)) {
      const bytes = readFrom(own, { ...request, body: Buffer.from(text) }, time);
      if (bytes === undefined) continue;
      const finding: Finding = { code: "body_changed", message: `The signature matches the body ${how}.` };
      for (const key of varied) yield { key, content: bytes, findings: [finding] };
    }
  };
}

const HOST = /^[A-Za-z0-9.:[\]-]{1,255}$/;

/** Where the caller says that it has called; told only once the signature has proven that the platform says so. */
function originsOf({ headers }: SignedRequest): string[] {
  const [host = ""] = headers.host ?? [];
  return HOST.test(host) ? [`https://${host}`, `http://${host}`] : [];
}

/** None for a secret that cannot be a key of this platform, such as one of another that is tried for it. */
function keyOf(secret: string, { key }: HmacData): Uint8Array[] {
  try {
    return keysOf([secret], key);
  } catch {
    return [];
  }
}
