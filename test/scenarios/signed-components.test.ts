import { createHash } from "node:crypto";
import { createSigner, httpbis } from "http-message-signatures";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { type MessageSignatureSourceOptions, messageSignatures } from "../../src/sources/platforms/index.ts";
import { type Dialect, describeFullOnPostgres } from "../support/databases.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";

const SECRET = "a shared secret of the sender";
const BODY = JSON.stringify({ type: "order" });
/** One for all, since it is among the signed bytes: two seconds make two events of equal bodies. */
const CREATED = new Date();
const DIGEST = `sha-256=:${createHash("sha256").update(BODY).digest("base64")}:`;

interface Sent {
  /** Header or query parameter of the event's id. */
  readonly id: { readonly header?: string; readonly query?: string };
  readonly fields: readonly string[];
}

/** Signs by another implementation than the one that verifies. */
async function send({ publicOrigin }: TestReceiver, { id, fields }: Sent) {
  const query = id.query === undefined ? "" : `?id=${id.query}`;
  const url = `${publicOrigin}/api/acme/callback${query}`;
  const { headers } = await httpbis.signMessage(
    {
      key: createSigner(Buffer.from(SECRET), "hmac-sha256", "acme-1"),
      fields: ["@method", "content-digest", ...fields],
      params: ["created", "keyid"],
      paramValues: { created: CREATED },
    },
    {
      method: "POST",
      url,
      headers: {
        "content-digest": DIGEST,
        ...(id.header !== undefined && { "x-event-id": id.header }),
      },
    },
  );
  const response = await fetch(url, {
    method: "POST",
    body: BODY,
    headers: headers as Record<string, string>,
  });
  return `${response.status} ${((await response.json()) as { status?: string }).status}`;
}

/** A receiver whose handler lists the ids that it has handled. */
function withAcme(
  dialect: Dialect,
  over: Pick<MessageSignatureSourceOptions, "id"> & Partial<MessageSignatureSourceOptions>,
  use: (receiver: TestReceiver, handled: readonly string[]) => Promise<void>,
) {
  const handled: string[] = [];
  const handler = defineHandler({
    source: "acme",
    type: "order",
    data: z.object({}),
    handle({ event }) {
      handled.push(event.event_id);
      return {};
    },
  });
  const keys = [{ id: "acme-1", algorithm: "hmac-sha256", key: SECRET }] as const;
  const acme = messageSignatures({ keys, type: "body.type", ...over });
  return withReceiver(dialect, (receiver) => use(receiver, handled), {
    sources: { acme },
    handlers: [handler],
  });
}

describeFullOnPostgres("events of equal bodies under HTTP Message Signatures on %s", (dialect) => {
  it("a header id is signed where the source requires its component, so that two ids are two events", () =>
    withAcme(
      dialect,
      { id: "header.X-Event-Id", required: ["@method", "@path", "x-event-id"] },
      async (receiver, handled) => {
        const fields = ["@path", "x-event-id"];
        expect(await send(receiver, { id: { header: "a" }, fields })).toBe("200 success");
        expect(await send(receiver, { id: { header: "b" }, fields })).toBe("200 success");
        expect(handled).toEqual(["a", "b"]);
      },
    ));

  it("a header id that a sender covers and the source does not require stays unsigned", () =>
    withAcme(dialect, { id: "header.X-Event-Id", identity: "bytes" }, async (receiver, handled) => {
      const fields = ["@path", "x-event-id"];
      expect(await send(receiver, { id: { header: "a" }, fields })).toBe("200 success");
      expect(await send(receiver, { id: { header: "b" }, fields: ["@path"] })).toBe("200 already_processed");
      expect(handled).toHaveLength(1);
    }));

  it.each(["@query", "@target-uri", "@request-target"])(
    "an id in the query is signed where the source requires %s",
    (component) =>
      withAcme(dialect, { id: "query.id", required: ["@path", component] }, async (receiver, handled) => {
        const fields = ["@path", component];
        expect(await send(receiver, { id: { query: "a" }, fields })).toBe("200 success");
        expect(await send(receiver, { id: { query: "b" }, fields })).toBe("200 success");
        expect(handled).toEqual(["a", "b"]);
      }),
  );

  it("an id in the query stays unsigned where the source requires the path alone", () =>
    withAcme(dialect, { id: "query.id", required: ["@path"], identity: "bytes" }, async (receiver, handled) => {
      expect(await send(receiver, { id: { query: "a" }, fields: ["@path"] })).toBe("200 success");
      expect(await send(receiver, { id: { query: "b" }, fields: ["@path"] })).toBe("200 already_processed");
      expect(handled).toHaveLength(1);
    }));
});
