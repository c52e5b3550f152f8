import type { LambdaEvent } from "../../src/embed/index.ts";
import { CALLBACK_PATH, type SignedCallback } from "./application.ts";

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly cookies?: string[];
  readonly isBase64Encoded?: boolean;
}

/**
 * An event of a function URL. Source: AWS Lambda Developer Guide, "Invoking Lambda function URLs", request payload
 * format; an HTTP API's with format 2.0 has the same fields.
 */
export function lambdaEvent({ body, headers }: Omit<SignedCallback, "id">, sent: Sent = {}): LambdaEvent {
  const { method = "POST", path = CALLBACK_PATH, query = "", cookies, isBase64Encoded = false } = sent;
  const domain = "abcdefg.lambda-url.us-west-2.on.aws";
  const fields = {
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    rawQueryString: query,
    ...(cookies !== undefined && { cookies }),
    headers: {
      ...headers,
      host: domain,
      "content-length": String(Buffer.byteLength(body)),
      "x-forwarded-for": "192.0.2.7",
      "x-forwarded-port": "443",
      "x-forwarded-proto": "https",
      "x-amzn-trace-id": "Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e",
    },
    requestContext: {
      accountId: "anonymous",
      apiId: "abcdefg",
      domainName: domain,
      domainPrefix: "abcdefg",
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "192.0.2.7", userAgent: "Stripe/1.0" },
      requestId: "e1506fd5-9e7b-434f-bd42-4f8fa224b599",
      routeKey: "$default",
      stage: "$default",
      time: "12/Mar/2020:19:03:58 +0000",
      timeEpoch: 1_583_348_638_390,
    },
    ...(body !== "" && { body: isBase64Encoded ? Buffer.from(body).toString("base64") : body }),
    isBase64Encoded,
  };
  return fields;
}
