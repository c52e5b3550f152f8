import type { IncomingMessage } from "node:http";

interface ParsedMessage extends IncomingMessage {
  readonly body?: unknown;
  /** Of Nest's `rawBody: true`, and of Google's functions. */
  readonly rawBody?: unknown;
  readonly app?: ExpressApplication;
}

interface ExpressApplication {
  readonly router?: Router;
  /** Of Express 4, whose `router` throws. */
  readonly _router?: Router;
  readonly parent?: ExpressApplication;
}

interface Router {
  readonly stack?: readonly Layer[];
}

interface Layer {
  readonly name?: string;
  /** A router has layers of its own. */
  readonly handle?: Router;
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
  return new Error(bytes === undefined ? consumedMessage(message) : inflatedMessage(message, encoding));
}

const GONE = "and the bytes that the platform signed are gone";
const MOUNT = "app.use(toNodeHandler(receiver))";
const IN_NEST = `Call ${MOUNT} before app.listen() and app.init()`;

function consumedMessage(message: ParsedMessage): string {
  const { parser, isNest } = parserOf(message);
  if (isNest)
    return (
      `Nest's default parser ${parser ?? ""} has read the body before the receiver, ${GONE}. ${IN_NEST}, or create ` +
      "the application with NestFactory.create(AppModule, { rawBody: true })"
    );
  if (parser !== undefined)
    return `${parser} has read the body before the receiver, ${GONE}. Move ${MOUNT} above app.use(${parser})`;
  return (
    `something has read the body before the receiver, ${GONE}. Give toNodeHandler(receiver) the request before any ` +
    "parser or middleware reads it; in Fastify, register the plugin of oncehook/fastify"
  );
}

function inflatedMessage(message: ParsedMessage, encoding: string): string {
  const { parser = "a parser", isNest } = parserOf(message);
  const remedy = isNest ? IN_NEST : `Move ${MOUNT} above app.use(${parser})`;
  return `${parser} has inflated a body of the encoding ${encoding} before the receiver, ${GONE}. ${remedy}`;
}

/** The parser of Express that fits the request, and whether the application is one of Nest. */
function parserOf({ app, body, headers }: ParsedMessage) {
  const layers = layersOf(app);
  const parsers = layers.flatMap(({ name = "" }) => PARSERS[name] ?? []);
  const type = headers["content-type"] ?? "";
  const ofType = type.includes("json") ? "json" : type.includes("x-www-form-urlencoded") ? "urlencoded" : undefined;
  const kind = typeof body === "string" ? "text" : body instanceof Uint8Array ? "raw" : ofType;
  return {
    parser: parsers.find((name) => name === `express.${kind}()`) ?? parsers[0],
    // Nest's adapter begins the application with a layer that calls its hook.
    isNest: layers.some(({ handle }) => typeof handle === "function" && String(handle).includes("onRequestHook")),
  };
}

/** Those of the application, of its routers, and of the applications in which it is mounted. */
function layersOf(app: ExpressApplication | undefined): readonly Layer[] {
  if (app === undefined) return [];
  const inside = ({ stack = [] }: Router): readonly Layer[] =>
    stack.flatMap((layer) => [layer, ...(layer.handle === undefined ? [] : inside(layer.handle))]);
  const { _router: older } = app;
  return [...inside(older ?? app.router ?? {}), ...layersOf(app.parent)];
}
