import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

const toGzip = promisify(gzip);
/** Less fits into a packet as it is. */
const MIN_LENGTH = 1_024;

/** Sends a response as gzip where the client takes it: the rows of a list are alike. */
export async function compressed(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (typeof payload !== "string" || payload.length < MIN_LENGTH) return payload;
  reply.header("vary", "accept-encoding");
  if (!/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/i.test(request.headers["accept-encoding"] ?? "")) return payload;
  reply.header("content-encoding", "gzip").removeHeader("content-length");
  return toGzip(payload);
}
