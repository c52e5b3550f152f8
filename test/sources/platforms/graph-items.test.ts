import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/domain/index.ts";
import { meta, whatsapp } from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";
import { openPreset } from "../../support/preset.ts";

const OPTIONS = { secret: "the secret of an app of Meta", verifyToken: "of no address" };

describe("a callback of WhatsApp", () => {
  const { contract } = openPreset(whatsapp(OPTIONS));
  const of = (value: Record<string, JsonValue>) =>
    eventsOf(contract, requestOf({ entry: [{ id: "1", changes: [{ field: "messages", value }] }] }));
  const metadata = { phone_number_id: "2" };
  const [a, b] = ["wamid.A", "wamid.B"].map((id) => ({ id, timestamp: "1603059201", type: "text" }));
  const contacts = [{ wa_id: "3" }];

  it("a message of WhatsApp is an event under its id, whatever other ones a retry holds", () => {
    const [alone] = of({ metadata, messages: [a] as JsonValue[] });
    const both = of({ metadata, contacts, messages: [a, b] as JsonValue[] });
    expect(alone?.eventId).toBe("wamid.A");
    expect(both.map(({ eventId }) => eventId)).toEqual(["wamid.A", "wamid.B"]);
    expect(both[1]?.json.data).toEqual({ field: "messages", value: { metadata, contacts, messages: [b] } });
  });

  it("a status of WhatsApp is an event by its message, status and time, beside messages", () => {
    const status = (name: string, timestamp: string) => ({ id: "wamid.C", status: name, timestamp });
    const statuses = [status("sent", "1"), status("failed", "2"), status("failed", "3")];
    const ids = of({ metadata, messages: [a] as JsonValue[], statuses }).map(({ eventId }) => eventId);
    expect(ids).toEqual(["wamid.A", "wamid.C.sent.1", "wamid.C.failed.2", "wamid.C.failed.3"]);
  });

  it("a status of each participant of a group of WhatsApp is an event", () => {
    const status = {
      id: "wamid.G",
      status: "read",
      timestamp: "1",
      recipient_id: "G",
      recipient_type: "group",
    };
    const of3 = [{ recipient_participant_id: "4" }, { recipient_participant_user_id: "DE.5" }, {}];
    const statuses = of3.map((participant) => ({ ...status, ...participant }));
    expect(of({ metadata, statuses }).map(({ eventId }) => eventId)).toEqual([
      "wamid.G.read.1.4",
      "wamid.G.read.1.DE.5",
      "wamid.G.read.1",
    ]);
  });

  it("errors of WhatsApp that come again without an id or a time are another event", () => {
    const errors = [{ code: 130_429, title: "Rate limit hit" }];
    expect(of({ metadata, errors })[0]?.eventId).not.toBe(of({ metadata, errors })[0]?.eventId);
  });
});

describe("a message of Messenger or Instagram", () => {
  const { contract } = openPreset(meta(OPTIONS));
  const of = (object: string, ...messaging: JsonValue[]) =>
    eventsOf(contract, requestOf({ object, entry: [{ id: "1", time: 5, messaging }] })).map((event) => [
      event.eventId,
      event.typeOf(),
    ]);
  const message = (over: Record<string, JsonValue> = {}) => ({
    timestamp: 4,
    message: { mid: "m1", ...over },
  });

  it("a message that is unsent or echoed is another event than the message, with a type of its own", () => {
    expect(of("instagram", message(), message({ is_deleted: true }), message({ is_echo: true }))).toEqual([
      ["m1", "instagram.message"],
      ["m1.message_deleted", "instagram.message_deleted"],
      ["m1.message_echo", "instagram.message_echo"],
    ]);
  });

  it("a message beside another one in a retry has its own event", () => {
    expect(of("page", message(), { timestamp: 6, message: { mid: "m2" } }).map(([id]) => id)).toEqual(["m1", "m2"]);
  });

  it("a reaction is one event where a retry is sent at another time", () => {
    const at = (time: number) => {
      const messaging = [{ timestamp: 4, reaction: { mid: "m1", emoji: "x" } }];
      return eventsOf(contract, requestOf({ object: "page", entry: [{ id: "1", time, messaging }] }))[0]?.eventId;
    };
    expect(at(5)).toBe(at(6));
  });
});

describe("a callback of Meta without values", () => {
  const { contract } = openPreset(meta(OPTIONS));
  const of = (time: number, ...fields: string[]) =>
    eventsOf(contract, requestOf({ object: "user", entry: [{ id: "1", uid: "1", time, changed_fields: fields }] }));

  it("each of Meta's changed_fields is an event, named by its field, with its entry as data", () => {
    const events = of(5, "photos", "feed");
    expect(events.map((event) => event.typeOf())).toEqual(["user.photos", "user.feed"]);
    expect(events[0]?.json.data).toEqual({ id: "1", uid: "1", time: 5, field: "photos" });
  });

  it("a field of Meta that changes twice is two events, and a retry of one is none", () => {
    const [[first], [retry], [second]] = [of(5, "photos"), of(5, "photos", "feed"), of(6, "photos")];
    expect(first?.eventId).toMatch(/^1\.5\./);
    expect(retry?.eventId).toBe(first?.eventId);
    expect(second?.eventId).not.toBe(first?.eventId);
  });

  it("a text among the messages of Meta is kept as invalid", () => {
    const entry = [{ id: "1", time: 5, messaging: ["x"] }];
    expect(contract.read(requestOf({ object: "page", entry }))).toMatchObject({ kind: "refused" });
  });

  it("an entry of Meta or WhatsApp without a list that is known is kept, beside the events of others", () => {
    const known = { id: "1", time: 5, changes: [{ field: "feed", value: 1 }] };
    const unknown = { id: "2", time: 5, hop_context: [{ app_id: 1 }] };
    for (const preset of [meta(OPTIONS), whatsapp(OPTIONS)]) {
      const read = (...entry: JsonValue[]) => openPreset(preset).contract.read(requestOf({ object: "page", entry }));
      expect(read(known, unknown)).toMatchObject({
        kind: "batch",
        events: [{}],
        invalid: { code: "event_invalid" },
      });
      expect(read(unknown)).toMatchObject({ code: "event_invalid" });
    }
  });
});
