import { type Finding, isRefused, type Remedies } from "../../domain/index.ts";
import type { SignedRequest } from "../request.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import type { Content } from "../schemes/keyed-digest.ts";
import { keysOf, WHSEC } from "../schemes/secret-keys.ts";
import { compileContent, type SignedContent } from "../schemes/signed-content.ts";
import { rewrittenBodies } from "./changed-body.ts";

/** A secret that is used only for diagnoses, and never accepted. */
export interface NamedSecret {
  /** Such as `test`; one that begins with `previous` is a former secret of this environment. */
  readonly name: string;
  readonly secret: string;
}

/** The input of a diagnosis for a source that signs by HMAC. */
export interface SignedSource {
  /** As it is configured. */
  readonly name: string;
  /** The platform's name, such as `Stripe`; that of a source of one's own. */
  readonly title: string;
  /** Described in the configuration: its options may be wrong, and not only what the sender sends. */
  readonly isOwn: boolean;
  /** Those that are accepted now, the current one first. */
  readonly secrets: () => readonly string[];
  /** An operator's name for one of them. */
  readonly secretName: (index: number) => string;
  readonly named: readonly NamedSecret[];
  /** Those of other sources of the same platform, by the names of these sources. */
  readonly otherSources: readonly NamedSecret[];
  /** Left out where no address is ever signed. */
  readonly origin?: () => string;
}

/** How the signature may have been made. */
interface Candidate {
  readonly key: Uint8Array;
  readonly content: Content;
  readonly findings: readonly Finding[];
  readonly remedy?: Remedies;
}

/** Longer bodies are tried with the secrets as they are, and with nothing else. */
const MAX_VARIED_BYTES = 65_536;
/** A platform may have a source for each of many accounts. */
const MAX_OTHERS = 16;
/** With more secrets the others are tried as they are, and with no changes. */
const MAX_VARIED_SECRETS = 2;
const MIN_KEY_BYTES = 8;
const HEX = /^(?:[0-9A-Fa-f]{2})+$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

const STANDARD_WEBHOOKS = "{header.webhook-id|svix-id}.{timestamp}.{body}";

/** The contents that other platforms sign, in words that follow "The signature covers". */
const OTHER_CONTENT: Readonly<Record<string, string>> = {
  "{body}": "the body alone",
  "{timestamp}.{body}": "the timestamp, a dot and the body, as Stripe signs",
  "v0:{timestamp}:{body}": "`v0:`, timestamp, colon and body, as Slack and Zoom sign",
  "{timestamp}:{body}": "the timestamp, a colon and the body, as Paddle signs",
  "{timestamp}{body}": "the timestamp followed by the body",
  "{url}{body}": "the address followed by the body",
  [STANDARD_WEBHOOKS]: "id, timestamp and body joined by dots, as Standard Webhooks signs",
};

/** Everything that is tried, the likeliest first: some 40 HMACs. */
export function compileCandidates(data: HmacData, source: SignedSource) {
  const { name: sourceName, title, secrets, secretName, named, origin } = source;
  const otherSecrets = source.otherSources.slice(0, MAX_OTHERS);
  const options = { origin, parts: data.parts };
  const signedContent = compileContent(data.signed, options);
  const template = data.signed;
  const otherContents = Object.entries(signedContent.holdsKey ? {} : OTHER_CONTENT)
    .filter(([other]) => other !== template && (origin !== undefined || !other.includes("{url}")))
    .map(([other, what]) => ({ other, what, content: compileContent(other, options) }));
  const readFrom = (content: SignedContent, request: SignedRequest, time: string | undefined) => {
    if (content.hasTimestamp && time === undefined) return undefined;
    const bytes = content.read?.(request, time) ?? request.body;
    return !Array.isArray(bytes) && !(bytes instanceof Uint8Array) && isRefused(bytes) ? undefined : (bytes as Content);
  };

  function ofOtherSource(name: string): Pick<Candidate, "findings" | "remedy"> {
    const message = `The signature was made with the secret of source ${name}: are the addresses swapped?`;
    const remedy = `At ${title}, compare the addresses of both sources, and the one that it shows for ${sourceName} with ${secretName(0)}.`;
    return { findings: [{ code: "other_environment", message }], remedy: { other_environment: remedy } };
  }

  function* variedSecrets(content: Content, more: readonly Finding[] = []): Generator<Candidate> {
    for (const [index, secret] of secrets().slice(0, MAX_VARIED_SECRETS).entries()) {
      for (const { key, finding } of secretFormats(secret, secretName(index)))
        yield { key: Buffer.from(key), content, findings: [finding, ...more] };
      if (data.key === undefined || data.key === "text") continue;
      const message = `The signature was made with ${secretName(index)} as it is, without decoding it.`;
      yield { key: Buffer.from(secret), content, findings: [{ code: "secret_format", message }, ...more] };
    }
  }

  return function* candidatesFor(request: SignedRequest, time: string | undefined): Generator<Candidate> {
    const keys = secrets().flatMap((secret) => keyOf(secret, data));
    const content = readFrom(signedContent, request, time);
    if (content !== undefined) {
      for (const key of keys) yield { key, content, findings: [] };
      for (const { name, secret } of named)
        for (const key of keyOf(secret, data)) yield { key, content, findings: [anotherSecret(name)] };
      for (const { name, secret } of otherSecrets)
        for (const key of keyOf(secret, data)) yield { key, content, ...ofOtherSource(name) };
    }
    if (request.body.length > MAX_VARIED_BYTES) return;
    const varied = keys.slice(0, MAX_VARIED_SECRETS);
    if (content !== undefined) yield* variedSecrets(content);
    for (const { other, what, content: otherContent } of otherContents) {
      const bytes = readFrom(otherContent, request, time);
      if (bytes === undefined) continue;
      for (const key of varied) yield { key, content: bytes, findings: [covers(what)] };
      // Standard Webhooks decodes its secrets.
      if (other === STANDARD_WEBHOOKS) yield* variedSecrets(bytes, [covers(what)]);
    }
    for (const at of template.includes("{url}") ? originsOf(request) : []) {
      const bytes = readFrom(compileContent(template, { ...options, origin: () => at }), request, time);
      const what = `an address that begins with ${at}, and CALLBACK_BASE_URL with ${origin?.()}`;
      if (bytes !== undefined) for (const key of varied) yield { key, content: bytes, findings: [covers(what)] };
    }
    for (const { text, how } of rewrittenBodies(request.body)) {
      const bytes = readFrom(signedContent, { ...request, body: Buffer.from(text) }, time);
      if (bytes === undefined) continue;
      const finding: Finding = { code: "body_changed", message: `The signature matches the body ${how}.` };
      for (const key of varied) yield { key, content: bytes, findings: [finding] };
    }
  };
}

function covers(what: string): Finding {
  return { code: "other_content", message: `The signature covers ${what}.` };
}

function anotherSecret(name: string): Finding {
  const message = `The signature was made with the secret \`${name}\` of DIAGNOSE_SECRETS_FILE.`;
  return { code: /^previous/i.test(name) ? "previous_secret" : "other_environment", message };
}

/** The keys that platforms and people make of one secret, besides its UTF-8 bytes. */
function secretFormats(secret: string, name: string): { key: string | Uint8Array; finding: Finding }[] {
  const bare = secret.replace(WHSEC, "");
  const formats: readonly (readonly [key: string | Uint8Array, how: string])[] = [
    [`${secret}\n`, "with a line break after it"],
    [`${secret}\r\n`, "with a line break (CRLF) after it"],
    /^["']/.test(secret)
      ? [secret.replace(/^["']|["']$/g, ""), "without its quotes"]
      : [`"${secret}"`, "with quotes around it"],
    WHSEC.test(secret) ? [bare, "without `whsec_`"] : [`whsec_${secret}`, "with `whsec_` before it"],
    [HEX.test(bare) ? Buffer.from(bare, "hex") : "", "decoded from hexadecimal"],
    [BASE64.test(bare) ? Buffer.from(bare, "base64") : "", "decoded from base64"],
  ];
  return formats
    .filter(([key]) => key.length >= MIN_KEY_BYTES)
    .map(([key, how]) => {
      const message = `The signature was made with ${name} ${how}.`;
      return { key, finding: { code: "secret_format", message } };
    });
}

const HOST = /^[A-Za-z0-9.:[\]-]{1,255}$/;

/** The address that the caller names; shown only after the signature has proven that the platform named it. */
function originsOf({ headers }: SignedRequest): string[] {
  const [host = ""] = headers.host ?? [];
  return HOST.test(host) ? [`https://${host}`, `http://${host}`] : [];
}

/** None for a secret that cannot be a key of this platform, such as another platform's secret. */
function keyOf(secret: string, { key }: HmacData): Uint8Array[] {
  try {
    return keysOf([secret], key);
  } catch {
    return [];
  }
}
