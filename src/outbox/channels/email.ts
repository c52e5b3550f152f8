import { connect, isIP } from "node:net";
import { createTransport } from "nodemailer";
import type { StoredNotification } from "../../store/index.ts";
import type { AllowedAddresses } from "../allowed-addresses.ts";
import { type Channel, DeliveryRefused } from "../channel.ts";
import { messageId } from "../message-id.ts";

export interface EmailOptions {
  /** `smtps://user:password@host:465`, or `smtp://user:password@host:587`, where STARTTLS is then required. */
  readonly url: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly addresses: AllowedAddresses;
  readonly ca?: string;
}

const TIME_LIMIT_MS = 15_000;

/** A mail over TLS. Its Message-ID is the notification's, so that a mail that came twice is one conversation. */
export function emailChannel({ url, from, to, addresses, ca }: EmailOptions): Channel {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === "smtps:";
  const host = hostname.replace(/^\[|\]$/g, "");
  const target = { host, port: Number(port || (secure ? 465 : 587)) };
  const transport = createTransport({
    ...target,
    secure,
    requireTLS: true,
    connectionTimeout: TIME_LIMIT_MS,
    greetingTimeout: TIME_LIMIT_MS,
    socketTimeout: TIME_LIMIT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    tls: { ...(isIP(host) === 0 ? { servername: host } : {}), ...(ca === undefined ? {} : { ca }) },
    ...(username === ""
      ? {}
      : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    // The mailer's own look-up would not ask whether the address is allowed.
    getSocket(_options, callback) {
      const socket = connect({ ...target, lookup: addresses.lookup, timeout: TIME_LIMIT_MS });
      const fail = (error: Error) => callback(error);
      socket.once("error", fail).once("timeout", () => socket.destroy(new Error(`${host} does not answer`)));
      socket.once("connect", () => {
        socket.removeListener("error", fail).setTimeout(0);
        callback(null, { connection: socket });
      });
    },
  });
  return {
    name: "email",
    async deliver(notification) {
      addresses.assertHost(host);
      try {
        await transport.sendMail({ ...mailOf(notification, host), from, to: [...to] });
      } catch (error) {
        throw isFinal(error)
          ? new DeliveryRefused("the mail server refuses the mail for good", { cause: error })
          : error;
      }
    },
    close: async () => transport.close(),
  };
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

/** RFC 5321 §4.2.1: a 5yz answer to the mail itself is permanent; a failed login or missing TLS is ours to mend. */
function isFinal(error: unknown): boolean {
  const { responseCode, code } = error as { responseCode?: unknown; code?: unknown };
  return typeof responseCode === "number" && responseCode >= 500 && OF_THE_MAIL.has(code);
}
