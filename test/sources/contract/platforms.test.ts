import { describe, expect, it } from "vitest";
import type { ContractData } from "../../../src/sources/contract/event-contract.ts";
import { contractOf, eventsOf, requestOf } from "../../support/contract.ts";

const FORM = { "Content-Type": "application/x-www-form-urlencoded" };

interface Sample {
  readonly contract: ContractData;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  /** Id, type, and where it is not the time of receipt, the timestamp. */
  readonly events: readonly (readonly [id: string, type: string, timestamp?: number])[];
}

const GITHUB: ContractData = {
  body: { byContentType: { "application/x-www-form-urlencoded": { form: "payload" }, "*": "json" } },
  id: "header.X-GitHub-Delivery",
  type: ["{header.X-GitHub-Event}.{body.action}", "header.X-GitHub-Event"],
};
const GITHUB_BODY = {
  action: "opened",
  number: 7,
  repository: { id: 1296269, full_name: "octocat/Hello-World" },
};
const GITHUB_HEADERS = {
  "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
  "X-GitHub-Event": "pull_request",
};

/** In the shapes of each platform's documentation. */
const SAMPLES: Record<string, Sample> = {
  Stripe: {
    contract: {
      id: "body.id",
      type: "body.type",
      eventTime: { at: "body.created", unit: "seconds" },
      data: "body.data.object",
    },
    body: {
      id: "evt_1NG8Du2eZvKYlo2CUI79vXWy",
      object: "event",
      created: 1_686_089_970,
      data: { object: { id: "pi_3", object: "payment_intent" } },
      type: "payment_intent.succeeded",
    },
    events: [["evt_1NG8Du2eZvKYlo2CUI79vXWy", "payment_intent.succeeded", 1_686_089_970]],
  },
  GitHub: {
    contract: GITHUB,
    body: GITHUB_BODY,
    headers: GITHUB_HEADERS,
    events: [["72d3162e-cc78-11e3-81ab-4c9367dc0958", "pull_request.opened"]],
  },
  "GitHub's form": {
    contract: GITHUB,
    body: `payload=${encodeURIComponent(JSON.stringify(GITHUB_BODY))}`,
    headers: { ...GITHUB_HEADERS, ...FORM },
    events: [["72d3162e-cc78-11e3-81ab-4c9367dc0958", "pull_request.opened"]],
  },
  "a push of GitHub, without an action": {
    contract: GITHUB,
    body: { ref: "refs/heads/main" },
    headers: { ...GITHUB_HEADERS, "X-GitHub-Event": "push" },
    events: [["72d3162e-cc78-11e3-81ab-4c9367dc0958", "push"]],
  },
  Shopify: {
    contract: {
      id: "{header.X-Shopify-Event-Id}:{header.X-Shopify-Topic}",
      type: "header.X-Shopify-Topic",
      eventTime: { at: "header.X-Shopify-Triggered-At", unit: "iso" },
    },
    body: '{"id":820982911946154508,"email":"jon@example.com"}',
    headers: {
      "X-Shopify-Topic": "orders/create",
      "X-Shopify-Event-Id": "98880550-7158-44d4-b7cd-2c97c8a091b5",
      "X-Shopify-Triggered-At": "2023-03-29T18:00:27.877041743Z",
    },
    events: [["98880550-7158-44d4-b7cd-2c97c8a091b5:orders/create", "orders/create"]],
  },
  "Slack's events": {
    contract: {
      id: "body.event_id",
      type: "body.event.type",
      eventTime: { at: "body.event_time", unit: "seconds" },
    },
    body: {
      type: "event_callback",
      team_id: "T123ABC456",
      event: { type: "app_mention", user: "U061F7AUR", ts: "1515449522.000016" },
      event_id: "Ev0LAN670R",
      event_time: 1_515_449_522,
    },
    events: [["Ev0LAN670R", "app_mention", 1_515_449_522]],
  },
  "Slack's interactivity": {
    contract: { body: { form: "payload" }, id: "body.trigger_id", type: "body.type" },
    body: `payload=${encodeURIComponent('{"type":"block_actions","trigger_id":"12466734323.1395872398","actions":[]}')}`,
    headers: FORM,
    events: [["12466734323.1395872398", "block_actions"]],
  },
  SendGrid: {
    contract: {
      id: "item.sg_event_id",
      type: "item.event",
      eventTime: { at: "item.timestamp", unit: "seconds" },
      batch: { at: "body" },
    },
    body: '[{"email":"example@test.com","timestamp":1513299569,"event":"processed","sg_event_id":"sg_event_1"},\r\n{"email":"example@test.com","timestamp":1513299570,"event":"deferred","sg_event_id":"sg_event_2"}]\r\n',
    events: [
      ["sg_event_1", "processed", 1_513_299_569],
      ["sg_event_2", "deferred", 1_513_299_570],
    ],
  },
  WhatsApp: {
    contract: {
      id: ["item.value.messages[0].id", "{item.value.statuses[0].id}.{item.value.statuses[0].status}", "sha256"],
      type: "{body.object}.{item.field}",
      eventTime: { at: "item.value.messages[0].timestamp", unit: "seconds" },
      batch: { at: "body.entry[].changes[]" },
    },
    body: {
      object: "whatsapp_business_account",
      entry: [
        {
          id: "8856996819413533",
          changes: [
            {
              value: {
                messages: [{ from: "16505551234", id: "wamid.HBgL", timestamp: "1603059201", type: "text" }],
              },
              field: "messages",
            },
            { value: { statuses: [{ id: "wamid.HBgM", status: "read" }] }, field: "messages" },
          ],
        },
      ],
    },
    events: [
      ["wamid.HBgL", "whatsapp_business_account.messages", 1_603_059_201],
      ["wamid.HBgM.read", "whatsapp_business_account.messages"],
    ],
  },
  "Meta's pages": {
    contract: {
      id: "{parent.id}.{parent.time}.{sha256}",
      type: "item.field",
      eventTime: { at: "parent.time", unit: "seconds" },
      batch: { at: "body.entry[].changes[]" },
    },
    body: {
      object: "page",
      entry: [{ id: "0", time: 1_520_383_571, changes: [{ field: "photos", value: {} }] }],
    },
    events: [["0.1520383571.", "photos", 1_520_383_571]],
  },
  Xero: {
    contract: {
      id: "{item.resourceId}.{item.eventDateUtc}.{item.eventType}",
      type: "{item.eventCategory}.{item.eventType}",
      batch: { at: "body.events" },
    },
    body: {
      events: [
        {
          resourceId: "717f2bfc-c6d4-41fd-b238-3f2f0c0cf777",
          eventDateUtc: "2017-06-21T01:15:39.902",
          eventType: "Update",
          eventCategory: "INVOICE",
        },
      ],
      firstEventSequence: 1,
      lastEventSequence: 1,
      entropy: "S0m3r4Nd0mt3xt",
    },
    events: [["717f2bfc-c6d4-41fd-b238-3f2f0c0cf777.2017-06-21T01:15:39.902.Update", "INVOICE.Update"]],
  },
  Adyen: {
    contract: {
      id: "{item.pspReference}.{item.eventCode}.{item.success}",
      type: "item.eventCode",
      eventTime: { at: "item.eventDate", unit: "iso" },
      batch: { at: "body.notificationItems[].NotificationRequestItem" },
    },
    body: {
      live: "false",
      notificationItems: [
        {
          NotificationRequestItem: {
            eventCode: "AUTHORISATION",
            success: "true",
            eventDate: "2019-06-28T18:03:50+01:00",
            merchantAccountCode: "YOUR_MERCHANT_ACCOUNT",
            pspReference: "7914073381342284",
            amount: { value: 1130, currency: "EUR" },
          },
        },
      ],
    },
    events: [["7914073381342284.AUTHORISATION.true", "AUTHORISATION", 1_561_741_430]],
  },
  Twilio: {
    contract: {
      body: "form",
      id: ["header.I-Twilio-Idempotency-Token", "{body.MessageSid}.{body.MessageStatus}"],
      type: "=message",
    },
    body: "MessageSid=SM2xxxxxx&SmsSid=SM2xxxxxx&MessageStatus=sent&To=%2B15552345678&AccountSid=ACxxxx",
    headers: FORM,
    events: [["SM2xxxxxx.sent", "message"]],
  },
  "Pub/Sub": {
    contract: {
      decode: [{ at: "body.message.data", as: "base64-json" }],
      id: "body.message.messageId",
      type: ["body.message.attributes.eventType", "body.subscription"],
      eventTime: { at: "body.message.publishTime", unit: "iso" },
      data: "body.message",
    },
    body: {
      message: {
        attributes: { eventType: "OBJECT_FINALIZE" },
        data: Buffer.from('{"name":"a.txt"}').toString("base64"),
        messageId: "2070443601311540",
        publishTime: "2021-02-26T19:13:55.749Z",
      },
      subscription: "projects/myproject/subscriptions/mysubscription",
    },
    events: [["2070443601311540", "OBJECT_FINALIZE", 1_614_366_835]],
  },
  SNS: {
    contract: {
      decode: [{ at: "body.Message", as: "json" }],
      id: "body.MessageId",
      type: "body.TopicArn",
      eventTime: { at: "body.Timestamp", unit: "iso" },
    },
    body: {
      Type: "Notification",
      MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
      TopicArn: "arn:aws:sns:us-west-2:123456789012:MyTopic",
      Message: "Hello world!",
      Timestamp: "2012-05-02T00:54:06.655Z",
    },
    headers: { "Content-Type": "text/plain; charset=UTF-8" },
    events: [["22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324", "arn:aws:sns:us-west-2:123456789012:MyTopic", 1_335_920_046]],
  },
  Notion: {
    contract: { id: "body.id", type: "body.type", eventTime: { at: "body.timestamp", unit: "iso" } },
    body: {
      id: "367cba44-b6f3-4c92-81e7-6a2e9659efd4",
      timestamp: "2024-12-05T23:55:34.285Z",
      type: "page.created",
      entity: { id: "153104cd-477e-809d-8dc4-ff2d96ae3090", type: "page" },
    },
    events: [["367cba44-b6f3-4c92-81e7-6a2e9659efd4", "page.created", 1_733_442_934]],
  },
  Asana: {
    contract: {
      id: "{item.resource.gid}.{item.action}.{item.created_at}.{sha256}",
      type: "{item.resource.resource_type}.{item.action}",
      eventTime: { at: "item.created_at", unit: "iso" },
      batch: { at: "body.events" },
    },
    body: {
      events: [
        {
          action: "changed",
          created_at: "2017-08-21T18:20:37.972Z",
          resource: { gid: "1337", resource_type: "task" },
        },
      ],
    },
    events: [["1337.changed.2017-08-21T18:20:37.972Z.", "task.changed", 1_503_339_637]],
  },
  Twitch: {
    contract: {
      id: "header.Twitch-Eventsub-Message-Id",
      isIdSigned: true,
      type: "body.subscription.type",
      eventTime: { at: "header.Twitch-Eventsub-Message-Timestamp", unit: "iso", isSigned: true },
      data: "body.event",
    },
    body: {
      subscription: { id: "f1c2a387", type: "channel.follow", version: "1" },
      event: { user_id: "1234", user_login: "cool_user" },
    },
    headers: {
      "Twitch-Eventsub-Message-Id": "befa7b53-d79d-478f-86b9-120f112b044e",
      "Twitch-Eventsub-Message-Timestamp": "2022-10-26T16:33:51.123456789Z",
    },
    events: [["befa7b53-d79d-478f-86b9-120f112b044e", "channel.follow", 1_666_802_031]],
  },
  "the App Store": {
    contract: {
      decode: [{ at: "body.signedPayload", as: "jws" }],
      id: "body.signedPayload.notificationUUID",
      type: [
        "{body.signedPayload.notificationType}.{body.signedPayload.subtype}",
        "body.signedPayload.notificationType",
      ],
      eventTime: { at: "body.signedPayload.signedDate", unit: "milliseconds" },
      data: "body.signedPayload",
    },
    body: {
      signedPayload: `eyJhbGciOiJFUzI1NiJ9.${Buffer.from(
        '{"notificationType":"DID_RENEW","notificationUUID":"002e14d5-51f5-4503-b5a8-c3a1af68eb20","signedDate":1698148900000,"data":{}}',
      ).toString("base64url")}.c2ln`,
    },
    events: [["002e14d5-51f5-4503-b5a8-c3a1af68eb20", "DID_RENEW", 1_698_148_900]],
  },
  "Google's push channels": {
    contract: {
      body: "none",
      id: "{header.X-Goog-Channel-ID}.{header.X-Goog-Message-Number}",
      type: "header.X-Goog-Resource-State",
    },
    body: "",
    headers: {
      "X-Goog-Channel-ID": "4ba78bf0-6a47-11e2-bcfd-0800200c9a66",
      "X-Goog-Message-Number": "398348",
      "X-Goog-Resource-State": "update",
    },
    events: [["4ba78bf0-6a47-11e2-bcfd-0800200c9a66.398348", "update"]],
  },
};

describe("a callback in the documented shape", () => {
  it.each(Object.entries(SAMPLES))(
    "a callback in the documented shape of %s is read into its events",
    (_, { contract, body, headers = {}, events }) => {
      const found = eventsOf(contractOf(contract), requestOf(body as never, { headers }));
      expect(found).toHaveLength(events.length);
      for (const [index, [id, type, timestamp]] of events.entries()) {
        const event = found[index]!;
        // A hash of the item is not repeated here.
        expect(event.eventId.replace(/[0-9a-f]{64}$/, "")).toBe(id.replace(/[0-9a-f]{64}$/, ""));
        expect(event.typeOf()).toBe(type);
        if (timestamp !== undefined) expect(event.json.timestamp).toBe(timestamp);
      }
    },
  );

  it("a callback in the documented shape of Pub/Sub has the decoded message as its data", () => {
    const { contract, body } = SAMPLES["Pub/Sub"]!;
    expect(eventsOf(contractOf(contract), requestOf(body as never))[0]!.json.data).toMatchObject({
      data: { name: "a.txt" },
      messageId: "2070443601311540",
    });
  });

  it("a callback in the documented shape of SNS keeps a message that is no JSON as a text", () => {
    const { contract, body } = SAMPLES.SNS!;
    expect(eventsOf(contractOf(contract), requestOf(body as never))[0]!.json.data).toMatchObject({
      Message: "Hello world!",
    });
  });

  it("a callback in the documented shape of Shopify has all digits of a long id", () => {
    const { contract, headers = {} } = SAMPLES.Shopify!;
    const [event] = eventsOf(contractOf(contract), requestOf('{"id":820982911946154508}', { headers }));
    expect(event!.json.data).toEqual({ id: "820982911946154508" });
  });
});
