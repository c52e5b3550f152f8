import { describe, expect, it } from "vitest";
import { slack } from "../../../src/sources/platforms/index.ts";
import { requestOf } from "../../support/contract.ts";
import { hmac, SECONDS, SECRET } from "../../support/documented-preset.ts";
import { openPreset, verifiedEvents } from "../../support/preset.ts";

const preset = slack({ secret: SECRET });

/** The first event of a callback that Slack sends as a form, or as JSON. */
async function eventOf(body: string, type: string) {
  const [event] = await verifiedEvents(
    preset,
    requestOf(body, {
      headers: {
        "Content-Type": type,
        "X-Slack-Request-Timestamp": SECONDS,
        "X-Slack-Signature": `v0=${hmac(`v0:${SECONDS}:${body}`)}`,
      },
    }),
  );
  return event!;
}

const ofForm = (fields: Record<string, string>) =>
  eventOf(new URLSearchParams(fields).toString(), "application/x-www-form-urlencoded");
const ofJson = (body: object) => eventOf(JSON.stringify(body), "application/json");

describe("a callback of Slack", () => {
  it("a callback of Slack from the Events API is known by its event's id and type", async () => {
    const event = await ofJson({
      type: "event_callback",
      event: { type: "app_mention", user: "U061F7AUR" },
      event_id: "Ev0LAN670R",
      event_time: 1_515_449_522,
    });
    expect(event.json).toMatchObject({
      event_id: "Ev0LAN670R",
      event_type: "app_mention",
      timestamp: 1_515_449_522,
    });
  });

  it("a callback of Slack from an interaction has the JSON of its form as data", async () => {
    const payload = JSON.stringify({ type: "block_actions", trigger_id: "12466.1395", actions: [] });
    const event = await ofForm({ payload });
    expect([event.eventId, event.typeOf()]).toEqual(["12466.1395", "block_actions"]);
    expect(event.json.data).toEqual(JSON.parse(payload));
  });

  it("a callback of Slack from an interaction without a trigger is known by its bytes and its signed time", async () => {
    const event = await ofForm({ payload: JSON.stringify({ type: "view_closed", view: { id: "V1" } }) });
    expect(event.eventId).toMatch(/^[0-9a-f]{64}$/);
    expect(event.typeOf()).toBe("view_closed");
  });

  it("a callback of Slack from a slash command has the command as its type and the fields as data", async () => {
    const event = await ofForm({ command: "/deploy", text: "main", trigger_id: "13345224609.738474920" });
    expect([event.eventId, event.typeOf()]).toEqual(["13345224609.738474920", "/deploy"]);
    expect(event.json.data).toMatchObject({ text: "main" });
  });

  it("a callback of Slack about its rate has an event of its own for each minute", async () => {
    const limited = (minute: number) => ofJson({ type: "app_rate_limited", minute_rate_limited: minute });
    const [first, next] = [await limited(1_518_467_820), await limited(1_518_467_880)];
    expect(first.typeOf()).toBe("app_rate_limited");
    expect(next.eventId).not.toBe(first.eventId);
  });

  it("a callback of Slack is read by its signed bytes, whatever its Content-Type says", async () => {
    const text = "hi&command=/refund&trigger_id=made-up&z=";
    const body = JSON.stringify({ event_id: "Ev1", event: { type: "message", text } });
    for (const type of ["application/json", "application/x-www-form-urlencoded", "text/plain"]) {
      const event = await eventOf(body, type);
      expect([event.eventId, event.typeOf()]).toEqual(["Ev1", "message"]);
      const command = await eventOf("command=%2Fdeploy&trigger_id=t1", type);
      expect([command.eventId, command.typeOf()]).toEqual(["t1", "/deploy"]);
    }
  });

  it("a callback of Slack is answered without a body, which Slack would show", () => {
    const { contract } = openPreset(preset);
    const outcome = { kind: "success", result: { text: "hello" } } as const;
    expect(contract.respond?.(outcome)).toMatchObject({ status: 200, body: "" });
  });
});
