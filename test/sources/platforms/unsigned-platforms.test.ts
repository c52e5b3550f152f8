import { describe, expect, it } from "vitest";
import { lark, microsoftGraph, okta } from "../../../src/sources/platforms/index.ts";
import { eventsOf } from "../../support/contract.ts";
import { opened, sent } from "../../support/preset-source.ts";

const idsAndTypes = (definition: Parameters<typeof opened>[0], request: ReturnType<typeof sent>) =>
  eventsOf(opened(definition).contract, request).map(({ json }) => [json.event_id, json.event_type]);

describe("the preset okta", () => {
  const source = okta({ secret: ["a shared text", "the previous one"] });
  const body = {
    eventType: "com.okta.event_hook",
    eventId: "b5a188b9-5ece-4636-b041-482ffda96311",
    data: {
      events: [
        { uuid: "b790f91a", published: "2019-03-28T19:16:53.488Z", eventType: "user.session.start" },
        { uuid: "9b7a3f5e", published: "2019-03-28T19:16:54.000Z", eventType: "user.lifecycle.create" },
      ],
    },
  };

  it.each([
    ["a shared text", { verified: [{ method: "token", index: 0 }] }],
    ["the previous one", { verified: [{ method: "token", index: 1 }] }],
    ["another text", { kind: "refused", code: "token_mismatch" }],
    ["Bearer a shared text", { kind: "refused", code: "token_mismatch" }],
  ])("the text %j in Authorization is compared as it is", async (text, verdict) => {
    const request = sent(body, { headers: { Authorization: text } });
    expect(await opened(source).scheme.verify(request)).toMatchObject(verdict);
  });

  it("each event of a callback has its own uuid, type and time", () => {
    expect(idsAndTypes(source, sent(body))).toEqual([
      ["b790f91a", "user.session.start"],
      ["9b7a3f5e", "user.lifecycle.create"],
    ]);
    expect(eventsOf(opened(source).contract, sent(body))[0]?.json.timestamp).toBe(1_553_800_613);
  });

  it("the check of the address is answered with its header in JSON", async () => {
    const headers = { "X-Okta-Verification-Challenge": "my verification challenge" };
    const response = await opened(source).contract.challenge?.(sent("", { method: "GET", headers }));
    expect(response).toMatchObject({ status: 200, body: '{"verification":"my verification challenge"}' });
  });

  it("the response to success is empty", () => {
    expect(opened(source).contract.respond?.({ kind: "success", result: {} })).toMatchObject({
      status: 200,
      body: "",
    });
  });
});

describe("the preset microsoft-graph", () => {
  const source = microsoftGraph({ secret: ["client-state", "previous-state"] });
  const item = (over: object = {}) => ({
    id: "lsgTZMr9KwAAA",
    subscriptionId: "7f105c7d-2dc5-4530-97cd-4e7ae6534c07",
    clientState: "client-state",
    changeType: "updated",
    resource: "users/1/messages/2",
    ...over,
  });
  const verdictOf = async (...items: object[]) => opened(source).scheme.verify(sent(JSON.stringify({ value: items })));

  it("each item must hold the configured clientState", async () => {
    expect(await verdictOf(item(), item())).toMatchObject({ verified: [{ method: "token", index: 0 }] });
    expect(await verdictOf(item(), item({ clientState: "previous-state" }))).toEqual({
      verified: [{ method: "token", index: 1 }],
    });
    expect(await verdictOf(item(), item({ clientState: "x" }))).toMatchObject({ code: "token_mismatch" });
    expect(await verdictOf(item({ clientState: undefined }))).toMatchObject({ code: "token_missing" });
    expect(await verdictOf(item({ clientState: ["client-state"] }))).toMatchObject({ code: "token_missing" });
    expect(await verdictOf()).toMatchObject({ code: "token_missing" });
  });

  it("a body without items, or that is no JSON, is refused", async () => {
    for (const body of ["{}", "[]", "{", '{"value":{}}', '{"value":[1]}'])
      expect(await opened(source).scheme.verify(sent(body))).toMatchObject({ code: "token_missing" });
  });

  it("an item with an id keeps it, and equal items without one are two events", () => {
    const [kept] = idsAndTypes(source, sent(JSON.stringify({ value: [item()] })));
    expect(kept).toEqual(["7f105c7d-2dc5-4530-97cd-4e7ae6534c07:lsgTZMr9KwAAA", "updated"]);
    const bare = item({ id: undefined });
    const ids = idsAndTypes(source, sent(JSON.stringify({ value: [bare] }))).concat(
      idsAndTypes(source, sent(JSON.stringify({ value: [bare] }))),
    );
    expect(new Set(ids.map(([id]) => id)).size).toBe(2);
  });

  it("a lifecycle notification has its event for a type", () => {
    const lifecycle = item({ lifecycleEvent: "reauthorizationRequired", changeType: undefined });
    expect(idsAndTypes(source, sent(JSON.stringify({ value: [lifecycle] })))[0]?.[1]).toBe("reauthorizationRequired");
  });

  it("the validation token of a new subscription is sent back as text, and an event is accepted", async () => {
    const query = "?validationToken=Validation%3A+Testing+client+application+reachability";
    const { contract } = opened(source);
    expect(await contract.challenge?.(sent("", { query }))).toMatchObject({
      status: 200,
      headers: { "content-type": "text/plain; charset=utf-8" },
      body: "Validation: Testing client application reachability",
    });
    expect(contract.respond?.({ kind: "success", result: {} })).toMatchObject({ status: 202 });
  });
});

describe("the preset lark without an Encrypt Key", () => {
  const source = lark({ verificationToken: "v-token" });
  const event = (token: string) => ({
    schema: "2.0",
    header: {
      event_id: "f7984f25",
      event_type: "contact.user.created_v3",
      create_time: "1608725989000",
      token,
    },
    event: {},
  });

  it("the Verification Token in the body authenticates events of both versions", async () => {
    const { scheme } = opened(source);
    expect(await scheme.verify(sent(event("v-token")))).toMatchObject({ verified: [{ method: "token" }] });
    const old = { uuid: "41b5f371", token: "v-token", type: "event_callback", event: { type: "app_open" } };
    expect(await scheme.verify(sent(old))).toMatchObject({ verified: [{ index: 0 }] });
    expect(idsAndTypes(source, sent(old))).toEqual([["41b5f371", "app_open"]]);
    expect(await scheme.verify(sent(event("v-other")))).toMatchObject({ code: "token_mismatch" });
    expect(await scheme.verify(sent({ ...event("v-other"), token: "v-token" }))).toMatchObject({
      code: "token_mismatch",
    });
  });

  it("a challenge is answered only after its token was verified", async () => {
    const { scheme, contract } = opened(source);
    const question = (token: string) => sent({ challenge: "abc", type: "url_verification", token });
    expect(contract.challenge).toBeUndefined();
    expect(await scheme.verify(question("v-other"))).toMatchObject({ code: "token_mismatch" });
    const found = contract.read(question("v-token"));
    expect(found.kind === "handshake" && (await found.respond())).toMatchObject({
      body: '{"challenge":"abc"}',
    });
  });

  it("the preset lark without an Encrypt Key with an Encrypt Key as well, an unencrypted challenge or event is refused", async () => {
    const { scheme, contract } = opened(lark({ secret: "key", verificationToken: "v-token" }));
    const question = sent({ challenge: "abc", type: "url_verification", token: "v-token" });
    expect(contract.challenge?.(question)).toBeUndefined();
    expect(await scheme.verify(sent(event("v-token")))).toMatchObject({ code: "signature_missing" });
    expect(contract.read(sent(event("v-token")))).toMatchObject({ code: "body_undecryptable" });
  });

  it("neither key nor token is refused", () => {
    expect(() => lark({})).toThrow(/lark: `secret`: got none/);
  });
});
