import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface RawConnection {
  write(text: string): void;
  /** All that has arrived when the first response is complete: at the end of its body, or of the connection. */
  response(): Promise<string>;
  close(): void;
}

const LONGEST_MS = 20_000;

/** A connection to an application, over which a test sends what `fetch` cannot. */
export async function openConnection(origin: string): Promise<RawConnection> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  let received = "";
  let isOver = false;
  socket.setEncoding("latin1");
  socket.on("data", (text) => {
    received += text;
  });
  socket.on("close", () => {
    isOver = true;
  });
  // A server may close while bytes are still on their way to it.
  socket.on("error", () => {});
  return {
    write: (text) => void socket.write(text, "latin1"),
    async response() {
      const deadline = Date.now() + LONGEST_MS;
      while (!isComplete(received) && !isOver && Date.now() < deadline) await sleep(10);
      return received;
    },
    close: () => void socket.destroy(),
  };
}

function isComplete(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = /^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1];
  if (length === undefined) return text.endsWith("0\r\n\r\n");
  return text.length >= end + 4 + Number(length);
}
