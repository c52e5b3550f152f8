import dns from "node:dns";
import type { IncomingMessage, ServerResponse } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import {
  createAllowedAddresses,
  DeliveryPostponedError,
  PermanentDeliveryError,
  webhookChannel,
} from "../../src/outbox/index.ts";
import type { StoredNotification } from "../../src/store/index.ts";
import { withHttpServer } from "../support/http-server.ts";
import { WEBHOOK_SECRET, withWebhookReceiver } from "../support/notified.ts";

const NOTIFICATION: StoredNotification = {
  id: 1,
  idempotencyKey: "platform/évt/1",
  source: "platform",
  eventId: "évt",
  topic: "order.paid",
  payload: { order_id: "o1", amount: 10 },
  createdAt: "2026-01-01T00:00:00.000Z",
};
const LOOPBACK = createAllowedAddresses(["127.0.0.0/8", "::1"]);

async function deliver(
  { url, ca }: { url: string; ca?: string },
  over: { secret?: string; addresses?: typeof LOOPBACK } = {},
): Promise<void> {
  const trusted = ca === undefined ? {} : { ca: [ca] };
  const channel = webhookChannel({ url, secret: WEBHOOK_SECRET, addresses: LOOPBACK, ...trusted, ...over });
  try {
    await channel.deliver(NOTIFICATION, AbortSignal.timeout(5_000), "webhook");
  } finally {
    await channel.close?.();
  }
}

describe("the webhook channel", () => {
  it("the channel posts what the standardwebhooks package verifies, with the same id each time", () =>
    withWebhookReceiver(async (receiver) => {
      await deliver(receiver);
      await deliver(receiver);
      const [first, second] = receiver.accepted;
      expect(first).toEqual({
        id: expect.stringMatching(/^ntf_[\w-]{32}$/),
        body: {
          type: "order.paid",
          timestamp: "2026-01-01T00:00:00.000Z",
          data: { order_id: "o1", amount: 10 },
        },
      });
      expect(second?.id).toBe(first?.id);
    }));

  it("a delivery fails where the receiver does not know the secret", () =>
    withWebhookReceiver(async (receiver) => {
      const secret = `whsec_${Buffer.alloc(32, 4).toString("base64")}`;
      await expect(deliver(receiver, { secret })).rejects.toThrow("answered 401");
    }));

  it("a delivery ends for good with 410, waits as long as Retry-After says, and follows no redirect", () =>
    withWebhookReceiver(async (receiver) => {
      receiver.answers.push(
        { status: 410 },
        { status: 429, headers: { "retry-after": "120" } },
        { status: 302, headers: { location: receiver.url } },
        { status: 500 },
      );
      await expect(deliver(receiver)).rejects.toBeInstanceOf(PermanentDeliveryError);
      const postponed = await deliver(receiver).catch((error: unknown) => error);
      expect(postponed).toBeInstanceOf(DeliveryPostponedError);
      expect(postponed).toMatchObject({ seconds: 120 });
      await expect(deliver(receiver)).rejects.toThrow("answered 302, expected 2xx; redirects are not followed");
      await expect(deliver(receiver)).rejects.toThrow("answered 500");
      expect(receiver.requests).toBe(4);
      expect(receiver.accepted).toEqual([]);
    }));

  it("the channel leaves the time of the next attempt to the schedule where Retry-After is a date", () =>
    withWebhookReceiver(async (receiver) => {
      receiver.answers.push({ status: 503, headers: { "retry-after": "Fri, 31 Dec 2027 23:59:59 GMT" } });
      const failed = await deliver(receiver).catch((error: unknown) => error);
      expect(failed).toMatchObject({ name: "Error", message: "the webhook's endpoint answered 503, expected 2xx" });
    }));

  it("the channel posts JSON, and uses its connections again", () => {
    const requests: IncomingMessage[] = [];
    return withHttpServer(
      (request, response) => {
        requests.push(request);
        response.end("thank you");
      },
      async (url) => {
        const channel = webhookChannel({ url, secret: WEBHOOK_SECRET, addresses: LOOPBACK });
        for (let count = 0; count < 5; count += 1) {
          await channel.deliver(NOTIFICATION, AbortSignal.timeout(5_000), "webhook");
          await nextTurn();
        }
        await channel.close?.();
        const types = requests.map(({ headers }) => headers["content-type"]);
        expect(types).toEqual(Array(5).fill("application/json"));
        expect(new Set(requests.map(({ socket }) => socket)).size).toBeLessThan(5);
      },
    );
  });

  it("the webhook channel refuses a certificate that no authority signed", () =>
    withWebhookReceiver(async (receiver) => {
      const addresses = LOOPBACK;
      const channel = webhookChannel({ url: receiver.url, secret: WEBHOOK_SECRET, addresses });
      await expect(channel.deliver(NOTIFICATION, AbortSignal.timeout(5_000), "webhook")).rejects.toThrow(/certificate/);
      await channel.close?.();
      expect(receiver.requests).toBe(0);
    }));

  const drip = (response: ServerResponse) => response.write(".");
  const breakOff = (response: ServerResponse) => response.write(".", () => response.destroy());
  const flood = (response: ServerResponse) => {
    const pour = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on("drain", pour);
    pour();
  };

  it.each([
    [200, "drips", drip],
    [201, "has no end", flood],
    [202, "breaks off", breakOff],
    [500, "drips", drip],
    [503, "has no end", flood],
  ])("the channel judges on the status %i, and at once, although the body %s", (status, _how, body) =>
    withHttpServer(
      (_request, response) => void body(response.writeHead(status)),
      async (url) => {
        const verdict = await deliver({ url }).catch((error: Error) => error.message);
        expect(verdict).toBe(status < 300 ? undefined : `the webhook's endpoint answered ${status}, expected 2xx`);
      },
    ),
  );

  it("the channel lets go of a body that does not end, so that its connection is not kept", { tags: "full" }, () => {
    const closed = Promise.withResolvers<boolean>();
    return withHttpServer(
      (_request, response) => {
        response.once("close", () => closed.resolve(response.writableEnded));
        response.writeHead(200).write(".");
      },
      async (url) => {
        const channel = webhookChannel({ url, secret: WEBHOOK_SECRET, addresses: LOOPBACK });
        await channel.deliver(NOTIFICATION, AbortSignal.timeout(60_000), "webhook");
        // The server has not ended it: the connection was closed by the other side.
        expect(await closed.promise).toBe(false);
        await channel.close?.();
      },
    );
  });
});

describe("the end of the webhook channel", () => {
  it("the channel cuts an answer off that still comes, and waits for nothing of it", () => {
    const cut = Promise.withResolvers<boolean>();
    return withHttpServer(
      (_request, response) => {
        response.once("close", () => cut.resolve(!response.writableEnded));
        response.writeHead(200).write(".");
      },
      async (url) => {
        const channel = webhookChannel({ url, secret: WEBHOOK_SECRET, addresses: LOOPBACK });
        const { signal } = new AbortController();
        // What bounds the time of an answer would end the wait too.
        const limit = vi.spyOn(AbortSignal, "timeout").mockReturnValue(signal);
        try {
          await channel.deliver(NOTIFICATION, signal, "webhook");
          await channel.close?.();
          expect(await cut.promise).toBe(true);
        } finally {
          limit.mockRestore();
        }
      },
    );
  });
});

describe("a destination", () => {
  const nowhere = createAllowedAddresses([]);
  const url = (host: string) => ({ url: `http://${host}:9/` });

  it.each([
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[fe80::1]",
    "[fd00::1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[::169.254.169.254]",
    "[::127.0.0.1]",
    "[::5efe:7f00:1]",
    "[0:0:0:1::1]",
    "[4000::1]",
    "[100::1]",
    "localhost",
  ])("a destination that is not public is refused before anything is sent: %s", async (host) => {
    const error = await deliver(url(host), { addresses: nowhere }).catch((caught: unknown) => caught);
    expect(String(error)).toContain(
      "is not a public address; where that is meant, name its network in NOTIFY_ALLOW_ADDRESSES",
    );
  });

  it("a webhook connects to the address that was checked", async () => {
    const seen: unknown[] = [];
    const { lookup } = createAllowedAddresses(["127.0.0.1"]);
    await new Promise<void>((resolve) =>
      lookup("localhost", { all: true }, (error, found) => {
        seen.push(error, found);
        resolve();
      }),
    );
    expect(seen).toEqual([null, [{ address: "127.0.0.1", family: 4 }]]);
  });

  it("a destination without an address fails only that attempt", async () => {
    const unknown = new Error("getaddrinfo ENOTFOUND");
    const resolver = vi
      .spyOn(dns, "lookup")
      .mockImplementation(((_name: string, _options: object, callback: (error: Error) => void) =>
        callback(unknown)) as typeof dns.lookup);
    syncBuiltinESMExports();
    try {
      const seen: unknown[] = [];
      nowhere.lookup("shop.example", {}, (error) => seen.push(error));
      expect(seen).toEqual([unknown]);
    } finally {
      resolver.mockRestore();
      syncBuiltinESMExports();
    }
  });

  it("a webhook connects to the public addresses of a name that also has private ones", async () => {
    const found = [
      { address: "127.0.0.1", family: 4 },
      { address: "93.184.216.34", family: 4 },
      { address: "::1", family: 6 },
    ];
    // No name of this machine has both.
    const resolver = vi
      .spyOn(dns, "lookup")
      .mockImplementation(((_name: string, _options: object, callback: (error: null, found: object[]) => void) =>
        callback(null, found)) as typeof dns.lookup);
    syncBuiltinESMExports();
    try {
      const seen: unknown[] = [];
      for (const all of [true, false])
        nowhere.lookup("shop.example", { all }, (error, address) => seen.push(error, address));
      expect(seen).toEqual([null, [{ address: "93.184.216.34", family: 4 }], null, "93.184.216.34"]);
    } finally {
      resolver.mockRestore();
      syncBuiltinESMExports();
    }
  });

  it("a destination may be a private one where its network is named", () => {
    const { assertHost } = createAllowedAddresses(["10.0.0.0/8"]);
    expect(() => assertHost("10.1.2.3")).not.toThrow();
    expect(() => assertHost("192.168.1.1")).toThrow("not a public address");
    expect(() => assertHost("93.184.216.34")).not.toThrow();
    expect(() => assertHost("[2606:4700::1]")).not.toThrow();
    const unassigned = createAllowedAddresses(["4000::/16", "fd00::/8"]);
    expect(() => unassigned.assertHost("[4000::1]")).not.toThrow();
    expect(() => unassigned.assertHost("[fd00::1]")).not.toThrow();
  });
});
