import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { FAULTS, type FaultCode, refused, UNKNOWN_REQUEST } from "../domain/index.ts";
import type { ReceiveDependencies } from "../receive/index.ts";
import { normalAddress } from "../system/index.ts";

/** How long a client may take to read why it was refused. */
const GRACE_MS = 1_000;
const EMPTY_BODY = new Uint8Array();

const CODES: Readonly<Record<string, FaultCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

export type ClientErrors = ReturnType<typeof createClientErrors>;

/** Bytes that Node does not take for a request, and requests that stop being one while they arrive. */
export function createClientErrors({ callbackLog, onResponse, receiver }: ReceiveDependencies) {
  const inFlight = new WeakSet<Socket>();
  const sentCodes = new WeakMap<Socket, FaultCode>();
  return {
    /** A request has started on this socket; its outcome is logged by itself, with the code that `respond` sent. */
    requestStarted: (socket: Socket) => void inFlight.add(socket),
    requestEnded: (socket: Socket) => void inFlight.delete(socket),
    codeFor: (socket: Socket) => sentCodes.get(socket),
    /** Writes a response to the socket, since Node has no request here, and logs what is known. */
    respond(error: NodeJS.ErrnoException, socket: Socket): void {
      if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
      const code = CODES[error.code ?? ""] ?? "malformed_request";
      const { status, message } = FAULTS[code];
      const body = JSON.stringify({ error: message });
      sentCodes.set(socket, code);
      if (!inFlight.has(socket)) {
        onResponse({ outcome: refused(code) }, status, 0);
        const remoteAddress = normalAddress(socket.remoteAddress ?? "");
        if (callbackLog.admitRefused({ outcome: code, remoteAddress })) {
          const row = {
            ...UNKNOWN_REQUEST,
            requestId: randomUUID(),
            receivedAt: receiver.clock.now().toISOString(),
            remoteAddress,
            outcome: code,
            responseStatus: status,
            responseBody: body,
            error: `${code}: ${error.code ?? ""} ${error.message}`,
          };
          callbackLog.addRefused({ outcome: code, remoteAddress, body: EMPTY_BODY, entry: () => row });
        }
      }
      // The other side may never close, and no list of connections has a socket that timed out.
      setTimeout(() => socket.destroy(), GRACE_MS).unref();
      socket.end(
        `HTTP/1.1 ${status} \r\nContent-Type: application/json; charset=utf-8\r\n` +
          `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
        () => socket.destroy(),
      );
    },
  };
}
