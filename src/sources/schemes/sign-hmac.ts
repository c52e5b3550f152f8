import { isRefused } from "../../domain/index.ts";
import { distinctHeaders } from "../request.ts";
import type { HmacData, MacEncoding } from "./hmac-data.ts";
import { createDigester } from "./keyed-digest.ts";
import { keysOf } from "./secret-keys.ts";
import { compileContent } from "./signed-content.ts";
import { formatTimestamp } from "./timestamp.ts";

export interface HmacRequest {
  readonly secret: string | Uint8Array;
  readonly body: Uint8Array;
  /** Those that the signature covers, in any case of letters. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default `POST`. */
  readonly method?: string;
  /** Path and query; default `/`. */
  readonly target?: string;
  /** For a signed `{url}`: scheme and host, without a path. */
  readonly origin?: string;
  readonly now: Date;
}

/**
 * The headers of signature and timestamp that the platform would send; of several for one of them, the first.
 * @throws TypeError where a header or the origin is signed and was not given
 */
export function signHmacRequest(data: HmacData, request: HmacRequest): Record<string, string> {
  const { algorithm = "sha256", timestamp: rule, signature } = data;
  const { origin, now, body, headers = {}, method = "POST", target = "/" } = request;
  const content = compileContent(data.signed, {
    origin: origin === undefined ? undefined : () => origin,
    parts: data.parts,
  });
  const time = rule === undefined ? undefined : formatTimestamp(now, rule.unit);
  const bytes = content.read?.({ method, target, headers: distinctHeaders(headers), body }, time) ?? body;
  if (isRefused(bytes)) throw new TypeError(bytes.detail);
  const [key = Buffer.of()] = keysOf([request.secret], data.key);
  const encoded = encode(createDigester(algorithm, key)(bytes), signature.encoding);
  const [header = ""] = [signature.header].flat();
  const [timeHeader] = [rule?.header ?? []].flat();
  const isInField = signature.fields?.timestamp !== undefined;
  return {
    [header]: headerText(signature, encoded, time),
    ...(!isInField && timeHeader !== undefined && time !== undefined && { [timeHeader]: time }),
  };
}

function encode(digest: Buffer, encoding: MacEncoding): string {
  if (encoding !== "base64-of-hex") return digest.toString(encoding);
  return Buffer.from(digest.toString("hex")).toString("base64");
}

function headerText({ prefix = "", fields }: HmacData["signature"], encoded: string, time = ""): string {
  const text = prefix + encoded;
  if (fields === undefined) return text;
  const { separator, assignment, value, timestamp } = fields;
  const named = `${value}${assignment}${text}`;
  return timestamp === undefined ? named : `${timestamp}${assignment}${time}${separator}${named}`;
}
