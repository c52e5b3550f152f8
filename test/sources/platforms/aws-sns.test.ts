import { describe, expect, it } from "vitest";
import { awsSns } from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";

const TOPIC = "arn:aws:sns:us-east-1:123456789012:orders";
const MESSAGE = {
  Type: "Notification",
  MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
  TopicArn: TOPIC,
  Message: '{"detail-type":"order.paid","order":1}',
  Timestamp: "2026-03-04T11:59:59.123Z",
};

function environmentOf(visited: string[]) {
  return {
    name: "aws-sns",
    clock: { now: () => new Date("2026-03-04T12:00:00Z") },
    origin: () => "https://hooks.example.com",
    visit: async (url: string) => void visited.push(url),
  };
}

describe("a message of Amazon SNS with its preset", () => {
  it("a message of Amazon SNS with its preset has its topic as its type, and the JSON of its message decoded", () => {
    const contract = awsSns({ topics: TOPIC }).createContract(environmentOf([]));
    const [event] = eventsOf(contract, requestOf(MESSAGE));
    expect(event?.typeOf()).toBe(TOPIC);
    expect(event?.json).toMatchObject({ event_id: MESSAGE.MessageId, data: { Message: { order: 1 } } });
  });

  it("a message of Amazon SNS with its preset has the type that stands where an option says", () => {
    const source = awsSns({ topics: TOPIC, type: "body.Message.detail-type" });
    const [event] = eventsOf(source.createContract(environmentOf([])), requestOf(MESSAGE));
    expect(event?.typeOf()).toBe("order.paid");
  });

  it.each([
    ["https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&Token=1", 1],
    ["https://sns.us-east-1.amazonaws.com.evil.example/?Action=ConfirmSubscription", 0],
    ["http://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription", 0],
    ["https://169.254.169.254/", 0],
  ])("a message of Amazon SNS with its preset that asks to visit %s causes %i visits", async (SubscribeURL, visits) => {
    const visited: string[] = [];
    const contract = awsSns({ topics: TOPIC }).createContract(environmentOf(visited));
    const read = contract.read(requestOf({ ...MESSAGE, Type: "SubscriptionConfirmation", SubscribeURL }));
    if (read.kind !== "handshake") throw new Error("no handshake");
    await read.respond();
    expect(visited).toHaveLength(visits);
  });

  it("a message of Amazon SNS with its preset that ends a subscription is responded to without a visit", async () => {
    const visited: string[] = [];
    const contract = awsSns({ topics: TOPIC }).createContract(environmentOf(visited));
    const read = contract.read(requestOf({ ...MESSAGE, Type: "UnsubscribeConfirmation" }));
    if (read.kind !== "handshake") throw new Error("no handshake");
    expect(await read.respond()).toMatchObject({ status: 200 });
    expect(visited).toEqual([]);
  });

  it.each([[undefined], [[]], [""], ["orders"], [`${TOPIC}\n`], ["arn:aws:sqs:us-east-1:123456789012:orders"]])(
    "a message of Amazon SNS with its preset is not expected of the topics %j",
    (topics) => {
      expect(() => awsSns({ topics })).toThrow("aws-sns: `topics`");
    },
  );
});
