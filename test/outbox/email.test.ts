import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { createAllowedAddresses, emailChannel, PermanentDeliveryError } from "../../src/outbox/index.ts";
import type { StoredNotification } from "../../src/store/index.ts";
import { certificate } from "../support/certificate.ts";
import { MAIL_USER, type MailServer, mailLogin, withMailServer } from "../support/notified.ts";
import { until } from "../support/until.ts";

const NOTIFICATION: StoredNotification = {
  id: 1,
  idempotencyKey: "platform/e1/1",
  source: "platform",
  eventId: "e1\r\nBcc: everybody@example.com",
  topic: "order.paid\r\nBcc: everybody@example.com",
  payload: { order_id: "o1" },
  createdAt: "2026-01-01T00:00:00.000Z",
};
const LOOPBACK = createAllowedAddresses(["127.0.0.0/8"]);

async function deliver(
  server: Pick<MailServer, "port" | "ca">,
  { scheme = "smtps", password = MAIL_USER.pass, addresses = LOOPBACK, signal = AbortSignal.timeout(5_000) } = {},
): Promise<void> {
  const login = mailLogin({ ...MAIL_USER, pass: password });
  const channel = emailChannel({
    url: `${scheme}://${login}@127.0.0.1:${server.port}`,
    from: "oncehook@pay.example.com",
    to: ["shop@example.com", "books@example.com"],
    addresses,
    ca: [server.ca],
  });
  try {
    await channel.deliver(NOTIFICATION, signal, "email:shop@example.com");
  } finally {
    await channel.close?.();
  }
}

describe("the e-mail channel", () => {
  it.each([
    ["smtps", true],
    ["smtp", false],
  ])("a mail goes over TLS by %s, with one Message-ID for every attempt", (scheme, secure) =>
    withMailServer({ secure }, async (server) => {
      await deliver(server, { scheme });
      await deliver(server, { scheme });
      const [first, second] = server.mails;
      expect(first).toMatchObject({
        from: "oncehook@pay.example.com",
        to: ["shop@example.com"],
        secure: true,
      });
      expect(first?.text).toContain('"order_id": "o1"');
      expect(first?.text).toMatch(/^To: shop@example.com, books@example.com$/m);
      const idOf = (text = "") => /^Message-ID: (.+)$/im.exec(text)?.[1];
      expect(idOf(first?.text)).toMatch(/^<ntf_[\w-]{32}@127\.0\.0\.1>/);
      expect(idOf(second?.text)).toBe(idOf(first?.text));
      const [head = ""] = first?.text.split(/\r?\n\r?\n/) ?? [];
      expect(head).not.toMatch(/^Bcc:/im);
      // RFC 3834: no holiday notice answers it.
      expect(head).toMatch(/^Auto-Submitted: auto-generated$/im);
      expect(head).toMatch(/^Subject: \[oncehook\] order\.paid/m);
      const told = /^X-Oncehook-Notification: (.+)$/im.exec(head)?.[1];
      expect(idOf(first?.text)).toBe(`<${told}@127.0.0.1>`);
    }),
  );

  it("the channel sends nothing to a server that offers no TLS", () =>
    withMailServer({ secure: false, startTls: false }, async (server) => {
      await expect(deliver(server, { scheme: "smtp" })).rejects.toThrow("STARTTLS");
      expect(server.mails).toEqual([]);
    }));

  it("the e-mail channel refuses a certificate that no authority signed", () =>
    withMailServer({ secure: true }, async ({ port }) => {
      const channel = emailChannel({
        url: `smtps://127.0.0.1:${port}`,
        from: "a@example.com",
        to: ["b@example.com"],
        addresses: LOOPBACK,
      });
      await expect(channel.deliver(NOTIFICATION, AbortSignal.timeout(5_000), "email:b@example.com")).rejects.toThrow(
        /certificate/,
      );
      await channel.close?.();
    }));

  it.each([
    ["localhost", "localhost"],
    // RFC 6066, section 3: no address stands there.
    ["127.0.0.1", false],
  ])("the channel names the server %s in its TLS handshake as %j", async (host, expected) => {
    const pair = await certificate("mail");
    const server = createTlsServer(pair);
    const named = new Promise((resolve) => {
      server.once("secureConnection", (socket) => {
        resolve(Reflect.get(socket, "servername"));
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const { port } = server.address() as AddressInfo;
    const channel = emailChannel({
      url: `smtps://${host}:${port}`,
      from: "a@example.com",
      to: ["b@example.com"],
      addresses: createAllowedAddresses(["127.0.0.0/8", "::1/128"]),
      ca: [pair.cert],
    });
    try {
      const delivered = channel.deliver(NOTIFICATION, AbortSignal.timeout(5_000), "email:b@example.com");
      await expect(delivered).rejects.toThrow();
      expect(await named).toBe(expected);
    } finally {
      server.close();
    }
  });

  it("a mail may succeed later after a 4yz and after a wrong password, and not after a 5yz", () =>
    withMailServer({ secure: true }, async (server) => {
      server.refusals.push(
        { responseCode: 451, message: "try again" },
        { responseCode: 552, message: "too large for this mailbox" },
      );
      const later = await deliver(server).catch((error: unknown) => error);
      expect(later).not.toBeInstanceOf(PermanentDeliveryError);
      await expect(deliver(server)).rejects.toBeInstanceOf(PermanentDeliveryError);
      const login = await deliver(server, { password: "wrong" }).catch((error: unknown) => error);
      expect(login).toMatchObject({ code: "EAUTH" });
      await deliver(server);
      expect(server.mails).toHaveLength(1);
    }));

  it("the e-mail channel has one delivery for each recipient, also for one named twice", () => {
    const to = ["a@example.com", "b@example.com", "a@example.com"];
    const channel = emailChannel({ url: "smtps://x", from: "c@example.com", to, addresses: LOOPBACK });
    expect(channel.destinations).toEqual(["email:a@example.com", "email:b@example.com"]);
  });

  it("the channel waits for a slow server as many minutes as RFC 5321 asks for", () => {
    const to = ["a@example.com"];
    const channel = emailChannel({ url: "smtps://x", from: "c@example.com", to, addresses: LOOPBACK });
    expect(channel.timeLimitMs).toBeGreaterThan(10 * 60_000);
  });

  it.each([
    ["smtps", true],
    ["smtp", false],
  ])(
    "the channel breaks the connection by %s off when it is given up, so that no mail is taken later",
    (scheme, secure) =>
      withMailServer({ secure }, async (server) => {
        server.silentFor.add("shop@example.com");
        const giveUp = new AbortController();
        const reason = new Error("given up");
        const delivered = deliver(server, { scheme, signal: giveUp.signal });
        await until(() => server.asked() > 0);
        giveUp.abort(reason);
        await expect(delivered).rejects.toBe(reason);
        await until(() => server.ended() > 0);
        expect(server.mails).toEqual([]);
      }),
  );

  it("the channel destroys the connection of a mail that is given up, so that the server cannot answer it later", async () => {
    const connections: { readonly socket: Socket; asked: boolean; hasEnded: boolean; error?: Error }[] = [];
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      const connection: (typeof connections)[number] = { socket, asked: false, hasEnded: false };
      connections.push(connection);
      socket
        .once("data", () => Object.assign(connection, { asked: true }))
        .once("close", () => Object.assign(connection, { hasEnded: true }))
        .once("end", () => Object.assign(connection, { hasEnded: true }))
        .once("error", (error) => Object.assign(connection, { error }));
      socket.write("220 slow\r\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const giveUp = new AbortController();
      const delivered = deliver({ port, ca: "" }, { scheme: "smtp", signal: giveUp.signal });
      await until(() => connections[0]?.asked === true);
      const reason = new Error("given up");
      giveUp.abort(reason);
      await expect(delivered).rejects.toBe(reason);
      await until(() => connections[0]?.hasEnded === true);
      // One that was destroyed is reset; one that the mailer ended politely takes what is sent for five seconds more.
      await until(() => {
        if (connections[0]?.socket.writable) connections[0].socket.write("250-slow\r\n");
        return connections[0]?.error !== undefined;
      }, 2_000);
      expect(connections).toHaveLength(1);
    } finally {
      for (const { socket } of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it.each([
    ["smtps", 465],
    ["smtp", 587],
  ])("a mail goes by %s to port %i where the address names none", async (scheme, port) => {
    const channel = emailChannel({
      url: `${scheme}://127.0.0.99`,
      from: "a@example.com",
      to: ["b@example.com"],
      addresses: LOOPBACK,
    });
    const delivered = channel.deliver(NOTIFICATION, AbortSignal.timeout(5_000), "email:b@example.com");
    // Nothing listens there.
    await expect(delivered).rejects.toThrow(`127.0.0.99:${port}`);
  });

  it("a mail goes to no name of a private address that is not named", () =>
    withMailServer({ secure: true }, async ({ port }) => {
      const channel = emailChannel({
        url: `smtps://${mailLogin()}@localhost:${port}`,
        from: "a@example.com",
        to: ["b@example.com"],
        addresses: createAllowedAddresses([]),
      });
      await expect(channel.deliver(NOTIFICATION, AbortSignal.timeout(5_000), "email:b@example.com")).rejects.toThrow(
        "is not a public address",
      );
    }));

  it("a mail goes to no private address that is not named", () =>
    withMailServer({ secure: true }, async (server) => {
      await expect(deliver(server, { addresses: createAllowedAddresses([]) })).rejects.toThrow(
        "127.0.0.1 is not a public address",
      );
    }));
});
