import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Receiver } from "../../src/embed/index.ts";
import { CALLBACK_PATH, type SignedCallback, stripeCallback, withApplication } from "../support/application.ts";
import { withDatabase } from "../support/databases.ts";

const withReceiver = (use: (scene: { readonly receiver: Receiver }) => Promise<void>) =>
  withDatabase("sqlite", (target) => withApplication(target, use));

function requestOf(
  callback: SignedCallback,
  pieces: readonly unknown[],
  headers: Record<string, string> = {},
): Request {
  const body = ReadableStream.from(pieces);
  const init = { method: "POST", body, duplex: "half", headers: { ...callback.headers, ...headers } } as RequestInit;
  return new Request(`https://app.example${CALLBACK_PATH}`, init);
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const inPieces = ({ body }: SignedCallback) => [
  bytesOf(body.slice(0, 9)),
  bytesOf(body.slice(9, 40)),
  bytesOf(body.slice(40)),
];

describe("the body of a Request", () => {
  it("empty pieces of a stream change nothing", () =>
    withReceiver(async ({ receiver }) => {
      const callback = stripeCallback();
      const pieces = [bytesOf(""), bytesOf(callback.body), bytesOf("")];
      expect((await receiver.fetch(requestOf(callback, pieces))).status).toBe(200);
    }));

  it.each(["10", "abc", "-1", "", "70000"])("a wrong content-length refuses no authentic callback: %j", (length) =>
    withReceiver(async ({ receiver }) => {
      const callback = stripeCallback();
      const request = requestOf(callback, inPieces(callback), { "content-length": length });
      expect((await receiver.fetch(request)).status).toBe(200);
    }),
  );

  it("a Request that its server cannot make gets 400", () =>
    withReceiver(async ({ receiver }) => {
      const callback = stripeCallback();
      const request = requestOf(callback, inPieces(callback));
      Object.defineProperty(request, "body", {
        get() {
          throw new TypeError("the address has credentials");
        },
      });
      expect((await receiver.fetch(request)).status).toBe(400);
    }));

  it("an endless body is not read for ever once it was refused", () =>
    withReceiver(async ({ receiver }) => {
      let pulled = 0;
      const piece = new Uint8Array(1_048_576);
      const pull = async (controller: ReadableStreamDefaultController) => {
        pulled += 1;
        if (pulled > 200) throw new Error("still being read");
        controller.enqueue(piece);
      };
      const init = { method: "POST", body: new ReadableStream({ pull }), duplex: "half" } as RequestInit;
      const answer = await receiver.fetch(new Request(`https://app.example${CALLBACK_PATH}`, init));
      expect(answer.status).toBe(413);
      await setImmediate();
      expect(pulled).toBeLessThan(50);
    }));
});
