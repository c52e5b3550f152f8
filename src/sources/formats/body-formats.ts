import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";
import {
  fromCanonicalBase64url,
  isJsonObject,
  isRefused,
  type JsonValue,
  ownValue,
  type PathKey,
  parsePath,
  type Refused,
  refused,
} from "../../domain/index.ts";
import { wrongOption } from "../option-error.ts";
import type { SignedRequest } from "../request.ts";
import { isForm, malformedBody, parseForm, parseQuery } from "./form.ts";
import { parseMultipart } from "./multipart.ts";
import { MAX_NESTING, parseJsonBody, withoutByteOrderMark } from "./parse-body.ts";

/** The format of a verified body. */
export type BodyFormat =
  /** An object or an array. */
  | "json"
  /** application/x-www-form-urlencoded: its fields as an object of texts. */
  | "form"
  /** Either of both, by its first byte. The signed bytes say how it is read, not a header that is not signed. */
  | "json-or-form"
  /** multipart/form-data: its text fields as an object of texts, a file as `{ filename, base64 }`. */
  | "multipart"
  /** A compact JWS (RFC 7515 §3.1) whose payload is JSON. The scheme has verified it. */
  | "jws"
  /** Any text: `{ "text": … }`. */
  | "text"
  /** Not read: the event stands in the headers. */
  | "none"
  /** A field of a form whose text is JSON; with `orJson` that JSON itself too, by the first byte. */
  | { readonly form: string; readonly orJson?: true }
  | { readonly multipart: string };

/** A text inside the body that holds JSON itself, or another text, which takes its place. */
export interface InnerText {
  /** Such as `body.message.data`. */
  readonly at: string;
  readonly as: "json" | "base64-json" | "base64-text" | "jws";
}

export interface BodyData {
  /**
   * By the media type of `Content-Type`, where a platform sends several; `*` is for any other. Any sender can change that
   * header where it is not signed: see `json-or-form`.
   */
  readonly body?: BodyFormat | { readonly byContentType: Readonly<Record<string, BodyFormat>> };
  /**
   * Texts to decode, one after the other. One that is not what it should be stays a text. A platform's user may put
   * anything into it, and the event is authentic all the same.
   */
  readonly decode?: readonly InnerText[];
  /** A callback without a body is its query, as Twilio calls by GET. It must be signed, or the docs say it is not. */
  readonly emptyBody?: "query";
  /** Whether the platform compresses bodies (`Content-Encoding: gzip`). */
  readonly gzip?: true;
  /**
   * How the plain body comes out of an encrypted one, last of all steps. It must not throw, and be no slower than in
   * proportion to the body. The scheme has verified the body, but for an unsigned handshake.
   */
  readonly decrypt?: (body: JsonValue) => Decoded;
  /** The inverse of `decrypt`, for samples: the same plain body must give the same bytes. */
  readonly encrypt?: (plain: JsonValue) => JsonValue;
}

/** With `isJson` the whole body is one JSON text. */
export type Decoded = { readonly value: JsonValue; readonly isJson?: boolean } | Refused;

/** The envelope puts a value into `data`, and one that is no object into an object of its own. */
const MAX_BODY_NESTING = MAX_NESTING - 2;
const MAX_INFLATED_BYTES = 16 * 1024 * 1024;
const MAX_INFLATION = 100;
const MIN_INFLATED_BOUND = 64 * 1024;
const COMPACT_JWS = /^[\w-]+\.([\w-]+)\.[\w-]+$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** How a source's bodies become JSON. @throws TypeError for an invalid place, when the source is created */
export function createBodyDecoder({ body = "json", decode = [], ...data }: BodyData): DecodeBody {
  const { emptyBody, gzip, decrypt } = data;
  const inner = decode.map(({ at, as }) => ({ path: innerPath(at), as }));
  return (request) => {
    if (emptyBody === "query" && request.body.length === 0) return { value: parseQuery(request.target) };
    const bytes = gzip === true ? inflated(request) : { bytes: request.body };
    if (isRefused(bytes)) return bytes;
    const decoded = decodeAs(formatOf(body, request), withoutByteOrderMark(bytes.bytes), request);
    if (isRefused(decoded)) return decoded;
    for (const { path, as } of inner) {
      const fault = decodeInner(decoded.value, path, as);
      if (fault !== undefined) return fault;
    }
    const isJson = decoded.isJson === true && bytes.bytes === request.body;
    return { ...(decrypt === undefined ? decoded : decrypt(decoded.value)), isJson };
  };
}

export type DecodeBody = (request: Pick<SignedRequest, "headers" | "body" | "target">) => Decoded;

function formatOf(body: NonNullable<BodyData["body"]>, { headers }: Pick<SignedRequest, "headers">): BodyFormat {
  if (typeof body === "string" || !("byContentType" in body)) return body;
  const [type = ""] = contentType(headers).split(";", 1);
  const name = type.trim().toLowerCase();
  const format = Object.hasOwn(body.byContentType, name) ? body.byContentType[name] : undefined;
  return format ?? body.byContentType["*"] ?? "json";
}

function contentType(headers: SignedRequest["headers"]): string {
  return headers["content-type"]?.[0] ?? "";
}

function decodeAs(format: BodyFormat, bytes: Uint8Array, { headers }: Pick<SignedRequest, "headers">): Decoded {
  if (typeof format === "object" && !("orJson" in format && !isForm(bytes))) {
    const [field, fields] =
      "form" in format
        ? [format.form, parseForm(bytes)]
        : [format.multipart, parseMultipart(bytes, contentType(headers))];
    if (isRefused(fields)) return fields;
    const text = Object.hasOwn(fields.value, field) ? fields.value[field] : undefined;
    return typeof text === "string" ? parseText(text) : malformedBody(`form: expected one field \`${field}\``);
  }
  switch (typeof format === "object" ? "json" : format) {
    case "json":
      return { ...parseJsonBody(bytes, { keepsDigits: true, maxNesting: MAX_BODY_NESTING }), isJson: true };
    case "form":
      return parseForm(bytes);
    case "json-or-form":
      return decodeAs(isForm(bytes) ? "form" : "json", bytes, { headers });
    case "multipart":
      return parseMultipart(bytes, contentType(headers));
    case "jws":
      return parseJws(Buffer.from(bytes).toString("latin1")) ?? malformedBody("expected a compact JWS");
    case "text":
      return isUtf8(bytes) ? { value: { text: Buffer.from(bytes).toString("utf8") } } : refused("body_not_utf8");
    case "none":
      return { value: {} };
  }
}

function parseText(text: string, maxNesting = MAX_BODY_NESTING): Decoded {
  return parseJsonBody(Buffer.from(text), { keepsDigits: true, maxNesting });
}

/** Undefined where the text is no JWS; its payload is refused like any other JSON. */
function parseJws(text: string, maxNesting = MAX_BODY_NESTING): Decoded | undefined {
  const payload = fromCanonicalBase64url(COMPACT_JWS.exec(text)?.[1] ?? "");
  if (payload === undefined || payload.length === 0) return undefined;
  return parseJsonBody(payload, { keepsDigits: true, maxNesting });
}

function innerPath(at: string): readonly PathKey[] {
  const path = at.startsWith("body.") ? parsePath(at.slice("body".length)) : undefined;
  if (path === undefined) throw wrongOption("decode", at, "a place in the body, such as body.message.data");
  return path;
}

function decodeInner(body: JsonValue, path: readonly PathKey[], as: InnerText["as"]): Refused | undefined {
  let holder: JsonValue | undefined = body;
  for (const key of path.slice(0, -1)) holder = ownValue(holder, key);
  const last = path.at(-1) as PathKey;
  const text = ownValue(holder, last);
  if (typeof text !== "string") return undefined;
  const decoded = innerValue(text, as, MAX_BODY_NESTING - path.length);
  if (decoded === undefined) return undefined;
  if (isRefused(decoded)) {
    const isOtherText = decoded.code === "body_not_json" || decoded.code === "body_not_utf8";
    return isOtherText ? undefined : decoded;
  }
  if (Array.isArray(holder)) holder[last as number] = decoded.value;
  else if (isJsonObject(holder)) holder[last] = decoded.value;
  return undefined;
}

function innerValue(text: string, as: InnerText["as"], maxNesting: number): Decoded | undefined {
  if (as === "jws") return parseJws(text, maxNesting);
  if (as === "json") return parseText(text, maxNesting);
  if (as === "base64-text") return base64Text(text);
  if (!BASE64.test(text)) return undefined;
  return parseJsonBody(Buffer.from(text, "base64"), { keepsDigits: true, maxNesting });
}

/** In lines, as MIME has it (RFC 2045 §6.8). */
function base64Text(text: string): Decoded | undefined {
  const joined = text.replace(/[\r\n]/g, "");
  const bytes = Buffer.from(joined, "base64");
  return BASE64.test(joined) && isUtf8(bytes) ? { value: bytes.toString("utf8") } : undefined;
}

/** RFC 9110 §8.4.1.3. The signature was over the compressed bytes, so that unverified ones are never inflated. */
function inflated({ headers, body }: Pick<SignedRequest, "headers" | "body">) {
  const encoding = headers["content-encoding"]?.join(",").trim().toLowerCase();
  if (encoding !== "gzip" && encoding !== "x-gzip") return { bytes: body };
  const byRatio = Math.max(body.length * MAX_INFLATION, MIN_INFLATED_BOUND);
  const maxOutputLength = Math.min(byRatio, MAX_INFLATED_BYTES);
  try {
    return { bytes: gunzipSync(body, { maxOutputLength }) };
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return malformedBody(isTooLong ? `gzip: more than ${maxOutputLength} bytes` : "gzip: cannot be inflated");
  }
}
