import { expect, it } from "vitest";
import { describeFullOnPostgres } from "../../support/databases.ts";
import { withHttpServer } from "../../support/http-server.ts";
import { WEBHOOK_SECRET } from "../../support/notified.ts";
import { payment } from "../../support/receiver.ts";
import { withTraced } from "../../support/traced-receiver.ts";
import { until } from "../../support/until.ts";

const ROOT = "POST /api/platform/callback";
const CLIENT = 3;
const ERROR = 2;

describeFullOnPostgres("the trace of a notification's delivery on %s", (dialect) => {
  it("a delivery's trace links to the callback, continues at the receiver, and shows a failed attempt", {
    tags: "full",
  }, () => {
    const received: (string | string[] | undefined)[] = [];
    const answers = [503, 204];
    return withHttpServer(
      (request, response) => {
        received.push(request.headers.traceparent);
        request.resume();
        response.writeHead(answers.shift() ?? 204).end();
      },
      (origin) =>
        withTraced(
          dialect,
          async (receiver, collector) => {
            const sent = payment();
            await receiver.send(sent);
            const deliveries = () => collector.spans().filter(({ name }) => name === "deliver webhook");
            await until(() => deliveries().length === 2);
            const { root } = await collector.trace(ROOT);
            const parents = deliveries().map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
            expect(received).toEqual(parents);
            for (const span of deliveries()) {
              expect(span.links).toMatchObject([{ traceId: root.traceId, spanId: root.spanId }]);
              expect([span.kind, span.traceId === root.traceId]).toEqual([CLIENT, false]);
              expect(span.attributes).toMatchObject({
                "oncehook.event_id": sent.event_id,
                "oncehook.topic": "order.paid",
              });
            }
            const [failed, delivered] = deliveries();
            expect([failed?.status.code, delivered?.status.code ?? 0]).toEqual([ERROR, 0]);
            expect(failed?.status.message).toContain("the webhook's endpoint answered 503");
          },
          {
            outboxPollMs: 20,
            env: {
              NOTIFY_WEBHOOK_URL: `${origin}/hook`,
              NOTIFY_WEBHOOK_SECRET: WEBHOOK_SECRET,
              NOTIFY_ALLOW_ADDRESSES: "127.0.0.0/8",
              NOTIFY_RETRY_DELAY_SECONDS: "1",
            },
          },
        ),
    );
  });
});
