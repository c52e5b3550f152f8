import { randomUUID } from "node:crypto";
import { z } from "zod";
import { sqlMigration } from "../../store/index.ts";
import { defineHandler } from "../define-handler.ts";

const MESSAGES = `CREATE TABLE messages (
  message_id text PRIMARY KEY, event_id text NOT NULL, message text NOT NULL, received_at {time} NOT NULL
)`;

/** SPEC 6.3: stores the message. It may be any JSON, so it is kept as JSON text. */
export const webhookMessage = defineHandler({
  type: "webhook_message",
  data: z.object({ message: z.json() }),
  migrations: [sqlMigration("built-in-messages", MESSAGES)],
  async handle({ event, tx, now }) {
    const message_id = randomUUID();
    await tx.query
      .withTables<{ messages: Record<"message_id" | "event_id" | "message" | "received_at", string> }>()
      .insertInto("messages")
      .values({
        message_id,
        event_id: event.event_id,
        message: JSON.stringify(event.data.message),
        received_at: now.toISOString(),
      })
      .execute();
    return { message_id };
  },
});
