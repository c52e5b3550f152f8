import { createHash, createHmac } from "node:crypto";
import { type JsonObject, type Refused, refused } from "../../domain/index.ts";
import { optionError } from "../option-error.ts";
import type { HandshakeResponse, PlatformResponse } from "./contract.ts";
import { compileText, type TextLocation, type TextPlace } from "./locate.ts";
import type { Readable } from "./reading.ts";
import { fixedResponse } from "./responses.ts";

/** The response to a handshake. A text that is sent back is bounded, and never HTML. */
export type HandshakeReply =
  /** The text at a place, as text/plain (Meta, Dropbox, Twitch, Microsoft Graph); made by a function for Braintree. */
  | { readonly kind: "text"; readonly at: TextPlace }
  /** A JSON object (Slack, Strava, Okta; with a proof eBay, X, LinkedIn, Zoom). */
  | { readonly kind: "json"; readonly fields: Readonly<Record<string, ReplyValue>> }
  /** The same header back (RingCentral). */
  | { readonly kind: "header"; readonly name: string }
  /** A secret that the platform chose: kept, and sent back in a header where one is named (Asana; Notion without). */
  | { readonly kind: "learn"; readonly at: string; readonly header?: string }
  /** A fixed response (Trello's HEAD, Discord's PING). */
  | { readonly kind: "status"; readonly status: number; readonly body?: JsonObject }
  /** Made for each request, where it must be encrypted or signed (DingTalk). It must not throw. */
  | { readonly kind: "make"; readonly make: () => PlatformResponse }
  /** An HTTPS address to visit, whose host must match (AWS SNS). Only signed handshakes. */
  | { readonly kind: "visit"; readonly at: string; readonly hosts: readonly RegExp[] };

/** A place (`body.challenge`, `=constant`), or a proof that we know a secret. */
export type ReplyValue =
  | string
  | {
      /** The place of what HMAC-SHA256 is computed over. */
      readonly hmac: string;
      /** Default: the source's current secret. */
      readonly secret?: string;
      readonly encoding: "hex" | "base64";
      readonly prefix?: string;
    }
  /** SHA-256 of the places' texts in a row, hex (eBay: code, token, `url`). */
  | { readonly sha256: readonly string[] };

export interface HandshakeEnvironment {
  readonly origin: () => string;
  /** The source's current one; left out where it has none, or where each tenant has its own. */
  readonly secret?: string | undefined;
  /**
   * Keeps a secret that the platform chose, durably, before the response. Any client can send one. So it returns false
   * where a secret is known already and the operator has not asked for another.
   */
  readonly learn?: (secret: string, remoteAddress?: string) => boolean | Promise<boolean>;
  /** Requests an address that passed the pin, without following a redirect; throws where the platform should ask again. */
  readonly visit?: (url: string) => Promise<void>;
}

/** Makes the response to a request that is this handshake. */
type Reply = (reading: Readable) => HandshakeResponse;

const MAX_TEXT_BYTES = 1_024;
const MAX_URL_LENGTH = 2_048;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const HEADER_TEXT = /^[\x21-\x7e]+$/;
/**
 * The characters of a platform's random code. An unsigned handshake asks us to sign the sender's text with the key that
 * also signs events (X, LinkedIn). So these characters must not make a body of JSON, or a prefix before one.
 */
const RANDOM_CODE = /^[\w\-.~+/=]{1,256}$/;
const SIGNED_PREFIX = /^hmacsha256=/i;

/** @throws TypeError for an invalid place, when the source is created */
export function compileReply(reply: HandshakeReply, environment: HandshakeEnvironment): Reply {
  switch (reply.kind) {
    case "status":
      return () => fixedResponse(reply);
    case "make":
      return reply.make;
    case "text":
      return withText(compileText(reply.at), CONTROL_FREE, (text) => fixedResponse({ body: text }));
    case "header": {
      const { name } = reply;
      return withText(compileText(`header.${name}`), HEADER_TEXT, (text) => withHeader(name, text));
    }
    case "json":
      return compileJson(reply.fields, environment);
    case "learn":
      return compileLearn(reply, environment);
    case "visit":
      return compileVisit(reply, environment);
  }
}

const CONTROL_FREE = { test: (text: string) => !CONTROL.test(text) };

/** Bounded, and only what the test takes. */
function withText(
  location: TextLocation,
  allowed: { test(text: string): boolean },
  answer: (text: string, remoteAddress?: string) => HandshakeResponse,
): Reply {
  return (reading) => {
    const text = boundedText(location, allowed, reading);
    return typeof text === "string" ? answer(text, reading.remoteAddress) : text;
  };
}

function boundedText(
  location: TextLocation,
  allowed: { test(text: string): boolean },
  reading: Readable,
): string | Refused {
  const read = location.read(reading);
  if ("fault" in read) return invalid(`${location.name}: ${read.fault}`);
  const { text } = read;
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES)
    return invalid(`${location.name}: is longer than ${MAX_TEXT_BYTES} bytes`);
  return allowed.test(text) ? text : invalid(`${location.name}: holds characters that it must not`);
}

function invalid(message: string): Refused {
  return refused("handshake_invalid", { message });
}

function withHeader(name: string, text: string): PlatformResponse {
  return fixedResponse({ headers: { [name.toLowerCase()]: text } });
}

function compileJson(fields: Readonly<Record<string, ReplyValue>>, environment: HandshakeEnvironment): Reply {
  const compiled = Object.entries(fields).map(([name, value]) => [name, compileValue(value, environment)] as const);
  return (reading) => {
    const body: JsonObject = {};
    for (const [name, read] of compiled) {
      const text = read(reading);
      if (typeof text !== "string") return text;
      body[name] = text;
    }
    return fixedResponse({ body });
  };
}

function compileValue(value: ReplyValue, environment: HandshakeEnvironment): (reading: Readable) => string | Refused {
  if (typeof value === "string") {
    const location = compileText(value);
    return (reading) => boundedText(location, CONTROL_FREE, reading);
  }
  if ("sha256" in value) {
    const reads = value.sha256.map((part) => compileValue(part, environment));
    return (reading) => {
      const hash = createHash("sha256");
      for (const read of reads) {
        const text = read(reading);
        if (typeof text !== "string") return text;
        hash.update(text, "utf8");
      }
      return hash.digest("hex");
    };
  }
  const { secret = environment.secret ?? "", encoding, prefix = "" } = value;
  if (secret === "") throw optionError(undefined, "an empty `secret`", "what the platform shows");
  const location = compileText(value.hmac);
  const allowed = { test: (text: string) => RANDOM_CODE.test(text) && !SIGNED_PREFIX.test(text) };
  return (reading) => {
    const text = boundedText(location, allowed, reading);
    if (typeof text !== "string") return text;
    return prefix + createHmac("sha256", secret).update(text, "utf8").digest(encoding);
  };
}

function compileLearn(
  { at, header }: Extract<HandshakeReply, { kind: "learn" }>,
  { learn }: HandshakeEnvironment,
): Reply {
  async function keep(text: string, remoteAddress?: string): Promise<PlatformResponse | Refused> {
    if ((await learn?.(text, remoteAddress)) !== true) return invalid("this source takes no other secret");
    return header === undefined ? fixedResponse({}) : withHeader(header, text);
  }
  return withText(compileText(at), HEADER_TEXT, keep);
}

function compileVisit(
  { at, hosts }: Extract<HandshakeReply, { kind: "visit" }>,
  { visit }: HandshakeEnvironment,
): Reply {
  const location = compileText(at);
  return (reading) => {
    const address = location.read(reading);
    if ("fault" in address) return invalid(`${location.name}: ${address.fault}`);
    const url = pinnedUrl(address.text, hosts);
    if (url === undefined) return invalid(`${location.name}: is no address of the platform`);
    if (visit === undefined) return invalid("this source visits no address");
    return visit(url).then(() => fixedResponse({}));
  };
}

/** HTTPS at its own port and without credentials, of a host that matches as a whole. */
function pinnedUrl(text: string, hosts: readonly RegExp[]): string | undefined {
  const url = text.length <= MAX_URL_LENGTH ? URL.parse(text) : null;
  if (url === null || url.protocol !== "https:" || url.port !== "") return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  return hosts.some((host) => host.exec(url.hostname)?.[0] === url.hostname) ? url.href : undefined;
}
