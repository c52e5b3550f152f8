import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";
import { Webhook } from "standardwebhooks";
import { certificate, type Pair } from "./certificate.ts";

export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;

export interface Delivered {
  readonly id: string;
  readonly body: { type: string; timestamp: string; data: Record<string, unknown> };
}

/** A receiver of webhooks over HTTPS that verifies each one; `answers` are given first, then 204. */
export interface WebhookReceiver {
  readonly url: string;
  readonly ca: string;
  readonly accepted: Delivered[];
  readonly answers: { status: number; headers?: Record<string, string> }[];
  requests: number;
}

export async function withWebhookReceiver<T>(use: (receiver: WebhookReceiver) => Promise<T>): Promise<T> {
  const pair = await certificate("notified");
  const receiver = { url: "", ca: pair.cert, accepted: [], answers: [], requests: 0 } as WebhookReceiver & {
    url: string;
  };
  const server = createServer(pair, async (request, response) => {
    receiver.requests += 1;
    const body = await text(request);
    const answer = receiver.answers.shift();
    if (answer !== undefined) return response.writeHead(answer.status, answer.headers).end();
    try {
      const verified = new Webhook(WEBHOOK_SECRET).verify(body, request.headers as Record<string, string>);
      receiver.accepted.push({
        id: String(request.headers["webhook-id"]),
        body: verified as Delivered["body"],
      });
      return response.writeHead(204).end();
    } catch (error) {
      return response.writeHead(401).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  receiver.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  try {
    return await use(receiver);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

export interface Mail {
  readonly from: string;
  readonly to: string[];
  readonly text: string;
  readonly secure: boolean;
}

export interface MailServer {
  readonly port: number;
  readonly ca: string;
  readonly mails: Mail[];
  /** Answers to the next mails, in place of taking them. */
  readonly refusals: Refusal[];
  /** Answers to the next envelopes that name a recipient, in place of taking it. */
  readonly refusedRecipients: Map<string, Refusal[]>;
  /** Recipients for which it never answers. */
  readonly silentFor: Set<string>;
  /** How many recipients were named to it. */
  readonly asked: () => number;
  /** How many connections have ended. */
  readonly ended: () => number;
}

interface Refusal {
  readonly responseCode: number;
  readonly message: string;
}

export const MAIL_USER = { user: "oncehook@example.com", pass: "p@ss word" };

/** The login as an address of a mail server names it. */
export const mailLogin = ({ user, pass } = MAIL_USER) => `${encodeURIComponent(user)}:${encodeURIComponent(pass)}`;

/** A mail server that asks for a login over TLS: implicit, or by STARTTLS. */
export async function withMailServer<T>(
  { secure, startTls = true, pair }: { secure: boolean; startTls?: boolean; pair?: Pair },
  use: (server: MailServer) => Promise<T>,
): Promise<T> {
  const { cert, key } = pair ?? (await certificate("mail"));
  const mails: Mail[] = [];
  const refusals: Refusal[] = [];
  const refusedRecipients: MailServer["refusedRecipients"] = new Map();
  const silentFor = new Set<string>();
  let asked = 0;
  let ended = 0;
  const server = new SMTPServer({
    secure,
    disabledCommands: startTls ? [] : ["STARTTLS"],
    cert,
    key,
    onAuth({ username, password }, _session, done) {
      const known = username === MAIL_USER.user && password === MAIL_USER.pass;
      done(known ? null : Object.assign(new Error("unknown user"), { responseCode: 535 }), {
        user: username,
      });
    },
    onRcptTo({ address }, _session, done) {
      asked += 1;
      if (silentFor.has(address)) return;
      const refusal = refusedRecipients.get(address)?.shift();
      done(refusal === undefined ? null : Object.assign(new Error(refusal.message), refusal));
    },
    onClose() {
      ended += 1;
    },
    async onData(stream, session, done) {
      const whole = await text(stream);
      const refusal = refusals.shift();
      if (refusal !== undefined) return done(Object.assign(new Error(refusal.message), refusal));
      const { mailFrom, rcptTo } = session.envelope;
      mails.push({
        from: mailFrom === false ? "" : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        text: whole,
        secure: session.secure,
      });
      return done();
    },
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.server.address() as AddressInfo;
    return await use({
      port,
      ca: cert,
      mails,
      refusals,
      refusedRecipients,
      silentFor,
      asked: () => asked,
      ended: () => ended,
    });
  } finally {
    await new Promise<void>((resolve) => server.close(resolve));
  }
}
