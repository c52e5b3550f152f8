import type { IncomingMessage } from "node:http";

interface ParsedMessage extends IncomingMessage {
  readonly body?: unknown;
  /** Of Nest's `rawBody: true`, and of Google's functions. */
  readonly rawBody?: unknown;
  /** Express's application; 4 has `_router`. */
  readonly app?: { readonly router?: Router; readonly _router?: Router };
}

interface Router {
  readonly stack?: readonly { readonly name?: string }[];
}

const PARSERS: Readonly<Record<string, string>> = {
  jsonParser: "express.json()",
  urlencodedParser: "express.urlencoded()",
  textParser: "express.text()",
  rawParser: "express.raw()",
};

/**
 * The bytes of a body that something has read before, or why they are gone. The state of the stream tells whether it
 * was read: a parser leaves `body` in many forms.
 * @returns undefined for a body that nothing has read
 */
export function bodyGiven(message: ParsedMessage): Uint8Array | Error | undefined {
  if (!message.readableDidRead) return undefined;
  const encoding = String(message.headers["content-encoding"] ?? "identity").toLowerCase();
  const bytes = [message.rawBody, message.body].find((one) => one instanceof Uint8Array);
  // A parser inflates what it reads: those are other bytes than the platform signed.
  if (bytes !== undefined && encoding === "identity") return bytes;
  return new Error(bytes === undefined ? consumedMessage(message) : inflatedMessage(encoding));
}

function consumedMessage(message: ParsedMessage): string {
  const parser = parserOf(message);
  const place = "app.use(toNodeHandler(receiver))";
  return (
    `${parser} has read the body before the receiver, and the bytes that the platform signed are gone. Move ${place} ` +
    `above ${parser}; in Nest, call it before app.listen(), or create the application with { rawBody: true }`
  );
}

function inflatedMessage(encoding: string): string {
  return (
    `a parser has inflated a body of the encoding ${encoding} before the receiver, and the bytes that the platform ` +
    "signed are gone. Move app.use(toNodeHandler(receiver)) above the parser"
  );
}

/** The parser of the router that fits the request. */
function parserOf({ app, headers }: ParsedMessage): string {
  const { stack = [] } = app?.router ?? app?._router ?? {};
  const found = stack.flatMap(({ name = "" }) => PARSERS[name] ?? []);
  const type = headers["content-type"] ?? "";
  const kind = type.includes("json") ? "json" : type.includes("x-www-form-urlencoded") ? "urlencoded" : "";
  return found.find((name) => kind !== "" && name.includes(kind)) ?? found[0] ?? "a parser";
}
