import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestReceiver } from "./receiver.ts";

export interface RawConnection {
  readonly socket: Socket;
  /** The bytes that came back so far. */
  readonly text: string;
  readonly isClosed: boolean;
}

const opened: Socket[] = [];

/** Ends all of them: a receiver that stops waits for its connections. */
export function closeConnections(): void {
  for (const socket of opened.splice(0)) socket.destroy();
}

/** A connection from an address of this machine, with what comes back over it. */
export async function connectFrom(
  { publicOrigin }: TestReceiver,
  localAddress: string,
  sent = "",
): Promise<RawConnection> {
  const { hostname, port } = new URL(publicOrigin);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  const state = { socket, text: "", isClosed: false };
  opened.push(socket);
  socket.on("error", () => {}).on("data", (chunk) => (state.text += chunk));
  socket.on("close", () => (state.isClosed = true));
  await once(socket, "connect");
  if (sent !== "") await new Promise((resolve) => socket.write(sent, resolve));
  return state;
}

/** The begin of a callback of which so many bytes come, and more are announced. */
export function unfinished(bytes: number, announced: number): string {
  return `POST /api/platform/callback HTTP/1.1\r\nHost: x\r\nContent-Length: ${announced}\r\n\r\n${"x".repeat(bytes)}`;
}
