import type { Socket } from "node:net";
import { FAULTS, type FaultCode } from "../domain/index.ts";

/** How long a stranger may take to read why it was refused. */
const GRACE_MS = 1_000;

const CODES: Readonly<Record<string, FaultCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/** Answers what is not an HTTP request at all; Node gives the socket, so the answer is written by hand. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, message } = FAULTS[CODES[error.code ?? ""] ?? "malformed_request"];
  const body = JSON.stringify({ error: message });
  // The other side may never close: a socket that timed out is in nobody's list of connections any more.
  setTimeout(() => socket.destroy(), GRACE_MS).unref();
  socket.end(
    `HTTP/1.1 ${status} \r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
