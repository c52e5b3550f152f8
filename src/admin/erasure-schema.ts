import { z } from "zod";
import { view } from "./page-schemas.ts";

const count = () => z.int().nonnegative();
export const ERASURE = view("The payloads that were erased, or would be in a dry run.", {
  dry_run: z.boolean(),
  events: count(),
  originals: count(),
  callbacks: count().describe("Entries of the callback log."),
  failures: count().describe("They run only if their platform sends them again."),
  notifications: count(),
  captures: count().describe("Captured callbacks, outside production."),
  unreadable: count().describe("Stored payloads that no configured key decrypts; they were passed over."),
  digest: z.string().describe("SHA-256 of the events as sorted lines `source/event_id`: the proof of which they were."),
});
export type ErasureView = z.infer<typeof ERASURE>;
