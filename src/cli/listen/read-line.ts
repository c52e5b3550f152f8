import { z } from "zod";
import { somethingElse } from "./refusals.ts";

const at = z.string();
const LINE = z.union([
  z.discriminatedUnion("line", [
    z.object({ line: z.literal("hello"), at, database: z.enum(["same", "another", "older"]) }),
    z.object({
      line: z.literal("request"),
      at,
      received_at: z.string(),
      method: z.string(),
      url: z.string(),
      headers: z.array(z.string()),
      body: z.string(),
    }),
    z.object({ line: z.literal("unreadable"), at }),
    z.object({ line: z.enum(["swept", "heartbeat"]) }),
  ]),
  // A newer receiver may say more.
  z.object({ line: z.string() }).transform(() => ({ line: "unknown" as const })),
]);

/** A line as the receiver wrote it. */
export type ReadLine = z.infer<typeof LINE>;
/** A request that a receiver got, as it came. */
export type ReadRequest = Extract<ReadLine, { readonly line: "request" }>;

/** @throws Disconnected for what no receiver writes */
export function readLine(text: string, url: URL): ReadLine {
  const parsed = LINE.safeParse(parse(text));
  if (parsed.success) return parsed.data;
  throw somethingElse(url);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
