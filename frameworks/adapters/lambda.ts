import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { type LambdaEvent, type Receiver, toLambdaHandler } from "../../src/embed/index.ts";
import type { Exception, Framework } from "../scenarios.ts";
import { listen } from "./listen.ts";

interface Gateway {
  /** What it hands over as it is; the bytes of other types are base64. */
  readonly isText: (type: string) => boolean;
  /** Of the function's code, before the receiver's handler. */
  readonly middleware?: (event: LambdaEvent) => LambdaEvent;
}

const EXCEPTIONS: readonly Exception[] = [
  {
    scenario: /^a body (over the limit that is announced|that passes the limit unannounced)/,
    because: "the gateway reads a body to its end, within its own 6 or 10 MB, before it invokes the function",
  },
  {
    scenario: /^a body that does not end/,
    because: "the gateway waits for the end of a request by its own deadline; an event is a whole request",
  },
];

/** Text types of a function URL. A form is none of them. */
const isText = (type: string) => /^text\/|[/+]json\b|[/+]xml\b|javascript/.test(type);

function gateway(receiver: Receiver, { isText, middleware = (event) => event }: Gateway) {
  const handler = toLambdaHandler(receiver);
  return listen(
    createServer(async (request, response) => {
      // Another function of the same address.
      if (request.url === "/orders") return void response.end(await buffer(request));
      const { statusCode, headers, body, isBase64Encoded } = await handler(middleware(await eventOf(request, isText)));
      response.writeHead(statusCode, headers).end(Buffer.from(body, isBase64Encoded ? "base64" : "utf8"));
    }),
  );
}

/** As AWS makes it of a request: names in lower case, repeated headers joined by a comma, cookies apart. */
async function eventOf(request: IncomingMessage, isText: Gateway["isText"]): Promise<LambdaEvent> {
  const bytes = await buffer(request);
  const { pathname } = new URL(request.url ?? "", "http://gateway.example");
  const { cookie = [], ...fields } = request.headersDistinct;
  const headers = Object.fromEntries(Object.entries(fields).map(([name, values = []]) => [name, values.join(",")]));
  const isBase64Encoded = !isText(request.headers["content-type"] ?? "");
  return {
    version: "2.0",
    rawPath: pathname,
    rawQueryString: request.url?.split("?")[1] ?? "",
    headers: { ...headers, "x-forwarded-proto": "https", "x-forwarded-port": "443" },
    ...(cookie.length > 0 && { cookies: cookie }),
    requestContext: { http: { method: request.method ?? "", sourceIp: "192.0.2.7" } },
    ...(bytes.length > 0 && { body: bytes.toString(isBase64Encoded ? "base64" : "utf8") }),
    isBase64Encoded,
  };
}

/** As Middy's httpJsonBodyParser leaves an event. */
const parsed = (event: LambdaEvent) => ({ ...event, body: JSON.parse(event.body ?? "null") });

export const LAMBDA_URL: Framework = {
  name: "AWS Lambda behind a function URL",
  exceptions: EXCEPTIONS,
  takesUnknownSources: true,
  serve: (receiver) => gateway(receiver, { isText }),
  behindParser: {
    serve: (receiver) => gateway(receiver, { isText, middleware: parsed }),
    message: /has parsed the body before the receiver/,
  },
};

export const LAMBDA_HTTP_API: Framework = {
  name: "AWS Lambda behind an HTTP API with a stage, in base64",
  mount: "/prod",
  exceptions: EXCEPTIONS,
  takesUnknownSources: true,
  serve: (receiver) => gateway(receiver, { isText: () => false }),
};
