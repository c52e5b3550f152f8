import { percentDecoded, type Refused } from "../../domain/index.ts";
import { optionError } from "../option-error.ts";
import type { SignedRequest } from "../request.ts";
import type { HmacData, SignedPart } from "./hmac-data.ts";
import { type Content, type Piece, SECRET } from "./keyed-digest.ts";
import { malformed, quoted, refuse } from "./scheme.ts";

export interface SignedContent {
  readonly hasTimestamp: boolean;
  readonly holdsKey: boolean;
  /** The signed content; left out when it is only the body. @param timestamp as it was sent */
  read?(request: SignedRequest, timestamp: string | undefined): Content | Refused;
  /**
   * The varying parts, each on a line, and `body` in the place of the body. Only `body` where nothing else varies.
   * @param timestamp undefined to leave out all times
   */
  text(request: SignedRequest, body: string, timestamp: string | undefined): string;
}

export interface ContentOptions {
  /** @throws where an address is signed and there is none */
  readonly origin: (() => string) | undefined;
  readonly parts?: HmacData["parts"];
}

/** A text as latin1, one character a byte; the body and the secret are put in as they are. */
type Part = "body" | "secret" | ((request: SignedRequest, timestamp: string) => string | Refused);

const PLACEHOLDER = /\{([^{}]*)\}/;
/** Of an id, a nonce or the like; more than that is no platform's. */
const MAX_TEXT_LENGTH = 2_048;
/** Node gives headers and target as latin1; another character cannot have been sent. */
const SENT = /^[\x20-\x7e\x80-\xff]*$/;

/**
 * Compiles a template of `HmacData.signed`, once.
 * @throws TypeError for a placeholder that does not exist
 */
export function compileContent(template: string, options: ContentOptions): SignedContent {
  // Odd places hold what stands in braces.
  const split = template.split(PLACEHOLDER);
  const parts = split.flatMap((text, place) =>
    place % 2 === 1 ? [placeholder(text, options)] : text === "" ? [] : [constant(text)],
  );
  const hasTimestamp = template.includes("{timestamp}");
  const holdsKey = template.includes("{secret}");
  if (parts.length === 1 && parts[0] === "body") return { hasTimestamp, holdsKey, text: (_request, body) => body };
  const varying = split.filter((name, place) => place % 2 === 1 && name !== "body" && name !== "secret");
  const lasting = varying.filter((name) => !TIME.test(name)).map((name) => placeholder(name, options));
  const all = varying.map((name) => placeholder(name, options));
  return {
    hasTimestamp,
    holdsKey,
    read: (request, time) => join(parts, request, time ?? ""),
    text(request, body, time) {
      const texts = (time === undefined ? lasting : all).map((part) =>
        typeof part === "function" ? part(request, time ?? "") : "",
      );
      return [...texts, body].join("\n");
    },
  };
}

/** A timestamp, or a header that is named one. */
const TIME = /^(?:timestamp|header\..+-time(?:stamp)?)$/i;

/** Whether a template signs the request's path. */
export function coversPath(template: string): boolean {
  return /\{(?:path|target|url|decodedUrl)\}/.test(template);
}

/** Whether a template signs the registered address, and not only the path of a request. */
export function coversAddress(template: string): boolean {
  return /\{(?:url|decodedUrl)\}/.test(template);
}

/** Texts that follow each other are hashed as one. */
function join(parts: readonly Part[], request: SignedRequest, timestamp: string): Content | Refused {
  const pieces: Piece[] = [];
  let text = "";
  for (const part of parts) {
    if (typeof part === "function") {
      const partText = part(request, timestamp);
      if (typeof partText !== "string") return partText;
      text += partText;
      continue;
    }
    if (text !== "") pieces.push(text);
    text = "";
    pieces.push(part === "body" ? request.body : SECRET);
  }
  if (text !== "") pieces.push(text);
  return pieces;
}

const bytesOf = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

function constant(text: string): Part {
  if (/[{}]/.test(text)) throw optionError("signed", `a brace that is not closed in ${JSON.stringify(text)}`);
  const bytes = bytesOf(text);
  return () => bytes;
}

function placeholder(name: string, options: ContentOptions): Part {
  const platformPart = options.parts !== undefined && Object.hasOwn(options.parts, name) && options.parts[name];
  if (platformPart) return ownPart(platformPart, name);
  const [kind = "", rest] = divided(name, ".");
  if (rest !== undefined && rest !== "") {
    if (kind === "header") return headerPart(rest);
    if (kind === "query") return queryPart(rest);
  }
  if (name === "body" || name === "secret") return name;
  if (name === "timestamp") return (_request, timestamp) => timestamp;
  if (name === "method") return ({ method }) => method;
  if (name === "target") return targetPart((target) => target);
  if (name === "path") return targetPart((target) => divided(target, "?")[0]);
  if (name === "url") return urlPart(options, (target) => target);
  if (name === "decodedUrl") return urlPart(options, (target) => target.replace(RESERVED, decodeURIComponent));
  throw optionError("signed", `{${name}}`, KNOWN);
}

/**
 * The signed places of a template beside the body: `header.x-id`, `query.id`, or `query` for all of it. A header counts
 * where it is the only one, beside a body of JSON. Between two free texts, the signed content could be divided in
 * another way.
 */
export function signedPlaces(template: string, isJson: boolean): string[] {
  const names = template.split(PLACEHOLDER).filter((_text, place) => place % 2 === 1);
  if (names.some((name) => ["url", "decodedUrl", "target"].includes(name))) return ["query"];
  const [only, ...others] = names.filter((name) => name.startsWith("header.") || name.startsWith("query."));
  if (only === undefined || others.length > 0 || only.includes("|") || !isJson) return [];
  return [only.startsWith("header.") ? only.toLowerCase() : only];
}

const KNOWN =
  "{body}, {timestamp}, {header.name}, {header.a|b}, {url}, {decodedUrl}, {method}, {target}, {path}, {query.name} or {secret}";

function divided(text: string, at: string): [string, string | undefined] {
  const end = text.indexOf(at);
  return end === -1 ? [text, undefined] : [text.slice(0, end), text.slice(end + at.length)];
}

function headerPart(names: string): Part {
  const wanted = names.split("|").map((name) => ({ name, key: name.toLowerCase() }));
  const missing = `${quoted(names.split("|"), " or ")}: missing, and the signature covers it`;
  return ({ headers }) => {
    for (const { name, key } of wanted) {
      const values = headers[key];
      const value = values?.[0];
      if (values === undefined || value === undefined || value === "") continue;
      if (values.length > 1)
        return refuse("signature_repeated", `\`${name}\`: stands ${values.length} times, and is signed`);
      if (value.length > MAX_TEXT_LENGTH || !SENT.test(value))
        return malformed(`\`${name}\`: not a text of at most ${MAX_TEXT_LENGTH} characters`);
      return value;
    }
    return malformed(missing);
  };
}

function ownPart(read: SignedPart, name: string): Part {
  return (request) => read(request) ?? malformed(`\`${name}\`: missing or malformed, and the signature covers it`);
}

function targetPart(read: (target: string) => string): Part {
  return ({ target }) =>
    SENT.test(target) ? read(target) : malformed("the request's target has a character that cannot be sent");
}

function urlPart({ origin }: ContentOptions, read: (target: string) => string): Part {
  if (origin === undefined) throw optionError("signed", "{url}", "the origin that the platform has registered");
  return targetPart((target) => bytesOf(origin()) + read(target));
}

/** `: / ? @ ! $ ' ( ) * , ;` (developers.hubspot.com, "Validating requests"). */
const RESERVED = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

/** Decoded, since platforms sign the value and not its form (Mercado Pago). */
function queryPart(name: string): Part {
  const malformedQuery = (detail: string) => malformed(`query parameter \`${name}\`: ${detail}`);
  return ({ target }) => {
    let decoded: string | undefined;
    for (const pair of (divided(target, "?")[1] ?? "").split("&")) {
      const [key, value = ""] = divided(pair, "=");
      if (decodedField(key) !== name) continue;
      if (decoded !== undefined) return malformedQuery("stands more than once, and is signed");
      decoded = decodedField(value);
      // Two values that are no UTF-8 would both become U+FFFD, and be one.
      if (decoded === undefined || value.length > MAX_TEXT_LENGTH)
        return malformedQuery(`not UTF-8 of at most ${MAX_TEXT_LENGTH} characters`);
    }
    return decoded === undefined ? malformedQuery("missing, and the signature covers it") : bytesOf(decoded);
  };
}

const ASCII = /^[\x20-\x7e]*$/;

function decodedField(text: string): string | undefined {
  return ASCII.test(text) ? percentDecoded(text.replaceAll("+", " ")) : undefined;
}
