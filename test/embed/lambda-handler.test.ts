import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type LambdaEvent, type Receiver, toLambdaHandler } from "../../src/embed/index.ts";
import { stripe, twilioEvents, x } from "../../src/sources/platforms/index.ts";
import type { LogLine } from "../../src/testing/captured-log.ts";
import { STRIPE_SECRET, stripeCallback, withApplication } from "../support/application.ts";
import { withDatabase } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { lambdaEvent } from "../support/lambda-events.ts";
import type { Target } from "../support/open-target.ts";

type Lambda = ReturnType<typeof toLambdaHandler>;
type Options = NonNullable<Parameters<typeof withApplication>[2]>;
interface Given {
  readonly lambda: Lambda;
  readonly receiver: Receiver;
  readonly target: Target;
  readonly lines: readonly LogLine[];
}

const withLambda = (use: (given: Given) => Promise<void>, options: Options = {}) =>
  withDatabase("sqlite", (target) =>
    withApplication(
      target,
      ({ receiver, lines }) => use({ lambda: toLambdaHandler(receiver), receiver, target, lines }),
      { background: "none", ...options },
    ),
  );

describe("toLambdaHandler", () => {
  it("an event of a function URL is handled once, as text and as base64", () =>
    withLambda(async ({ lambda }) => {
      const callback = stripeCallback();
      const first = await lambda(lambdaEvent(callback, { isBase64Encoded: true }));
      expect(first).toMatchObject({ statusCode: 200, isBase64Encoded: false });
      expect(first.headers["content-type"]).toMatch("application/json");
      expect(JSON.parse(first.body)).toEqual({ status: "success", data: { id: callback.id } });
      const again = await lambda(lambdaEvent(callback));
      expect(JSON.parse(again.body)).toEqual({ status: "already_processed" });
    }));

  it("a response has no header of a connection, which is the gateway's", () =>
    withLambda(async ({ lambda }) => {
      const { headers } = await lambda(lambdaEvent(stripeCallback()));
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(["content-length"]));
      expect(headers).not.toHaveProperty("connection");
    }));

  it("the callback log of a response is stored before the handler returns it", () =>
    withLambda(async ({ lambda, target }) => {
      const forged = stripeCallback("evt_forged", "whsec_of_somebody_else");
      expect((await lambda(lambdaEvent(forged))).statusCode).toBe(401);
      expect(await countOf(target, "oncehook_callbacks")).toBe(1);
    }));

  it("the address of the request's context is the client's", () =>
    withLambda(
      async ({ lambda }) => {
        expect((await lambda(lambdaEvent(stripeCallback()))).statusCode).toBe(200);
        const event = lambdaEvent(stripeCallback());
        const http = { ...event.requestContext.http, sourceIp: "198.51.100.1" };
        const other = { ...event, requestContext: { ...event.requestContext, http } };
        expect((await lambda(other)).statusCode).toBe(403);
      },
      { file: { sources: { billing: stripe({ secret: STRIPE_SECRET, addresses: ["192.0.2.7"] }) } } },
    ));

  it("a signed address is taken as it was sent, with its raw query", () =>
    withLambda(
      async ({ lambda }) => {
        const body = JSON.stringify([
          { id: "EV1", type: "com.twilio.sent", specversion: "1.0", source: "/x", data: {} },
        ]);
        const query = `q='b'&bodySHA256=${createHash("sha256").update(body).digest("hex")}`;
        const url = `https://app.example/api/sms/callback?${query}`;
        const signature = createHmac("sha1", "a-token-of-twilio").update(url).digest("base64");
        const headers = { "content-type": "application/json", "x-twilio-signature": signature };
        const sent = lambdaEvent({ body, headers }, { path: "/api/sms/callback", query });
        expect((await lambda(sent)).statusCode).toBe(200);
      },
      {
        baseUrl: "https://app.example",
        file: { sources: { sms: twilioEvents({ secret: "a-token-of-twilio" }) }, handlers: [] },
      },
    ));

  it("a handshake by GET is answered, and a HEAD has no body", () =>
    withLambda(
      async ({ lambda }) => {
        const path = "/api/x/callback";
        const sent = { path, query: "crc_token=abc" };
        const get = await lambda(lambdaEvent({ body: "", headers: {} }, { ...sent, method: "GET" }));
        expect([get.statusCode, JSON.parse(get.body)]).toEqual([
          200,
          { response_token: `sha256=${createHmac("sha256", "x-consumer-secret").update("abc").digest("base64")}` },
        ]);
        const head = await lambda(lambdaEvent({ body: "", headers: {} }, { ...sent, method: "HEAD" }));
        expect(head.body).toBe("");
      },
      { file: { sources: { x: x({ secret: "x-consumer-secret" }) }, handlers: [] } },
    ));

  it("a body that a middleware has parsed gets 500, and the log says what to change", () =>
    withLambda(async ({ lambda, lines }) => {
      const event = lambdaEvent(stripeCallback());
      const parsed = { ...event, body: JSON.parse(event.body ?? "") };
      expect((await lambda(parsed)).statusCode).toBe(500);
      const parser = expect.stringMatching(/httpJsonBodyParser.*the event as Lambda hands it over/);
      expect(lines).toContainEqual(expect.objectContaining({ level: "error", msg: parser }));
    }));

  it("a body over the limit gets 413", () =>
    withLambda(async ({ lambda }) => {
      const { headers } = stripeCallback();
      expect((await lambda(lambdaEvent({ headers, body: "x".repeat(1_048_577) }))).statusCode).toBe(413);
    }));

  it("a path that is not the receiver's gets 404, and nothing is opened", () =>
    withLambda(async ({ lambda, target }) => {
      expect((await lambda(lambdaEvent(stripeCallback(), { path: "/orders" }))).statusCode).toBe(404);
      await expect(countOf(target, "oncehook_callbacks")).rejects.toThrow();
    }));

  it("an event of a REST API, of a load balancer and of no HTTP is refused with what to use instead", () =>
    withLambda(async ({ lambda }) => {
      const refusal = (event: object) => lambda(event as LambdaEvent);
      const rest = {
        resource: "/{proxy+}",
        path: "/api/billing/callback",
        httpMethod: "POST",
        headers: {},
        body: "{}",
      };
      await expect(refusal(rest)).rejects.toThrow(/payload format 1\.0.*PayloadFormatVersion: '2\.0'/);
      await expect(refusal({ ...rest, version: "1.0" })).rejects.toThrow(/payload format 1\.0/);
      const arn = "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/lambda/49e9d65c45c6791a";
      const balanced = { ...rest, requestContext: { elb: { targetGroupArn: arn } } };
      await expect(refusal(balanced)).rejects.toThrow(/Application Load Balancer.*give the function a URL/);
      const scheduled = { version: "0", "detail-type": "Scheduled Event", source: "aws.events", detail: {} };
      await expect(refusal(scheduled)).rejects.toThrow(/no HTTP request.*receiver\.work\(\)/);
    }));

  it("a receiver with loops is refused, since a function is frozen after its response", () =>
    withLambda(
      async ({ lambda }) => {
        await expect(lambda(lambdaEvent(stripeCallback()))).rejects.toThrow(/background: "none"/);
      },
      { background: "loops" },
    ));
});
