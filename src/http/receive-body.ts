import type { IncomingMessage } from "node:http";
import { type Refused, refused } from "../domain/index.ts";

const NOTHING = new Uint8Array();

/**
 * The body's bytes, at most `mostBytes` of them, whatever was announced.
 * @returns why it is not taken; `malformed_request` also where the other side went away in the middle
 */
export function receiveBody(message: IncomingMessage, mostBytes: number): Promise<Uint8Array | Refused> {
  if (Number(message.headers["content-length"]) > mostBytes)
    return Promise.resolve(refused("body_too_large"));
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    message.on("data", (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (bytes <= mostBytes) chunks.push(chunk);
      else {
        message.pause();
        resolve(refused("body_too_large"));
      }
    });
    message.on("end", () => {
      const [first = NOTHING] = chunks;
      resolve(chunks.length > 1 ? Buffer.concat(chunks, bytes) : first);
    });
    message.on("error", () => resolve(refused("malformed_request")));
  });
}
