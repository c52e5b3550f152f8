import { connect } from "node:net";

/** A server that answers nothing for so long is waiting for more, and is told that there is no more. */
const SILENCE_MS = 500;
const ANSWER_LIMIT_MS = 10_000;

/** Sends bytes over a socket of its own and returns everything that comes back until it is closed. */
export async function rawExchange(
  origin: string | URL,
  request: string | Uint8Array,
  { silenceMs = SILENCE_MS }: { silenceMs?: number } = {},
): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  const end = setTimeout(() => socket.end(), silenceMs);
  // Not at once: a server may take the end of what is sent for the end of the other side.
  socket.on("error", () => {}).on("data", (chunk) => chunks.push(chunk) && end.refresh());
  const giveUp = setTimeout(() => socket.destroy(), ANSWER_LIMIT_MS);
  // A reset is an answer too: whatever came before it is returned.
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(request);
  await closed;
  clearTimeout(end);
  clearTimeout(giveUp);
  return Buffer.concat(chunks).toString("latin1");
}
