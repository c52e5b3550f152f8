import { connect, type Socket } from "node:net";
import type { StoredNotification } from "../../store/index.ts";
import type { AllowedAddresses } from "../allowed-addresses.ts";
import { type Channel, messageId, PermanentDeliveryError } from "../channel.ts";

export interface EmailOptions {
  /** `smtps://user:password@host:465`, or `smtp://user:password@host:587`, where STARTTLS is then required. */
  readonly url: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly addresses: AllowedAddresses;
  /** Certificates, in PEM, that may sign the server's; the system's by default. */
  readonly ca?: readonly string[];
}

/**
 * RFC 5321 §4.5.3.2: a server may take five minutes for most responses, and ten while it takes the mail. A client that
 * disconnects earlier would send a mail twice that the server has taken.
 */
const GREETING_LIMIT_MS = 5 * 60_000;
const SILENCE_LIMIT_MS = 10 * 60_000;
const TIME_LIMIT_MS = 15 * 60_000;
const CONNECT_LIMIT_MS = 30_000;
const PREFIX = "email:";

/**
 * A mail over TLS, in an envelope for each recipient: a retry goes only to those whose mail failed. Its Message-ID is
 * the notification's, so that a mail that came twice is one conversation.
 */
export function emailChannel(options: EmailOptions): Channel {
  const { url, from, to, addresses } = options;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  return {
    name: "email",
    destinations: emailDestinations(to),
    timeLimitMs: TIME_LIMIT_MS,
    async deliver(notification, signal, destination) {
      addresses.assertHost(host);
      const envelope = { from, to: destination.slice(PREFIX.length) };
      try {
        await send({ ...mailOf(notification, host), from, to: [...to], envelope }, options, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw isFinal(error)
          ? new PermanentDeliveryError("the mail server refuses the mail for good", { cause: error })
          : error;
      }
    },
  };
}

/** One for each recipient, also where an address is listed twice. */
export function emailDestinations(to: readonly string[]): string[] {
  return [...new Set(to)].map((address) => `${PREFIX}${address}`);
}

async function send(mail: object, { url, addresses, ca }: EmailOptions, signal: AbortSignal): Promise<void> {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === "smtps:";
  const host = hostname.replace(/^\[|\]$/g, "");
  const target = { host, port: Number(port || (secure ? 465 : 587)) };
  const sockets: Socket[] = [];
  // Loaded with the first mail, not at every start.
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    ...target,
    secure,
    requireTLS: true,
    greetingTimeout: GREETING_LIMIT_MS,
    connectionTimeout: CONNECT_LIMIT_MS + GREETING_LIMIT_MS,
    socketTimeout: SILENCE_LIMIT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(ca === undefined ? {} : { tls: { ca: [...ca] } }),
    ...(username === "" ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    // The mailer's own look-up would not ask whether the address is allowed.
    getSocket(_options, callback) {
      const socket = connect({ ...target, lookup: addresses.lookup, timeout: CONNECT_LIMIT_MS });
      sockets.push(socket);
      const fail = (error: Error) => callback(error);
      socket.once("error", fail).once("timeout", () => socket.destroy(new Error(`${host} does not answer`)));
      socket.once("connect", () => {
        socket.removeListener("error", fail).setTimeout(0);
        callback(null, { connection: socket });
      });
    },
  });
  try {
    await transport.sendMail({ ...mail, signal });
  } finally {
    // The mailer closes a connection with QUIT, which would let a server take an abandoned mail.
    if (signal.aborted) for (const socket of sockets) socket.destroy();
  }
}

function mailOf(notification: StoredNotification, host: string) {
  const { topic, payload, createdAt, source, eventId } = notification;
  const id = messageId(notification);
  return {
    subject: `[oncehook] ${topic}`,
    text: `${topic}, ${createdAt}\nevent ${eventId} of ${source}\n\n${JSON.stringify(payload, null, 2)}\n`,
    messageId: `<${id}@${host}>`,
    headers: { "X-Oncehook-Notification": id, "Auto-Submitted": "auto-generated" },
  };
}

const OF_THE_MAIL: ReadonlySet<unknown> = new Set(["EENVELOPE", "EMESSAGE"]);

/** RFC 5321 §4.2.1: a 5yz response to the mail itself is permanent. A failed login or missing TLS can be mended. */
function isFinal(error: unknown): boolean {
  const { responseCode, code } = error as { responseCode?: unknown; code?: unknown };
  return typeof responseCode === "number" && responseCode >= 500 && OF_THE_MAIL.has(code);
}
