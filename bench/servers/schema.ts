import type { Dialect } from "../../src/store/index.ts";

/**
 * The tables of the hand-written servers and of pgbench: what Oncehook writes for a payment, with the same uniqueness and
 * the same indexes, but for the link from a record to its log row, which spares them a column. They are spelled out here,
 * so that they stay what they are when Oncehook's own change.
 */
export function schemaFor(dialect: Dialect): string[] {
  const isPostgres = dialect === "postgres";
  const id = isPostgres ? "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY" : "integer PRIMARY KEY";
  const time = isPostgres ? "timestamptz" : "text";
  const eventId = isPostgres ? 'text COLLATE "C"' : "text";
  const amount = isPostgres ? "numeric" : "real";
  return [
    `CREATE TABLE records (id ${id}, source text NOT NULL, event_id ${eventId} NOT NULL, event_type text NOT NULL,
      version text NOT NULL, status text NOT NULL, body_sha256 text NOT NULL, result text, created_at ${time} NOT NULL,
      processed_at ${time}, UNIQUE (event_id, source))`,
    `CREATE TABLE orders (order_id text PRIMARY KEY, status text NOT NULL, amount ${amount} NOT NULL,
      event_id text NOT NULL, updated_at ${time} NOT NULL)`,
    `CREATE TABLE notifications (id ${id}, source text NOT NULL, event_id ${eventId} NOT NULL,
      position integer NOT NULL, topic text NOT NULL, payload text NOT NULL, created_at ${time} NOT NULL,
      spread_at ${time})`,
    "CREATE INDEX notifications_fresh ON notifications (id) WHERE spread_at IS NULL",
    `CREATE TABLE callbacks (id ${id}, request_id text NOT NULL, received_at ${time} NOT NULL, source text,
      event_id ${eventId}, event_type text, method text NOT NULL, url text NOT NULL, remote_address text NOT NULL,
      request_headers text NOT NULL, request_body text NOT NULL, outcome text NOT NULL,
      response_status integer NOT NULL, response_body text NOT NULL, processing_ms double precision NOT NULL,
      error text, with_record smallint NOT NULL)`,
    "CREATE INDEX callbacks_event ON callbacks (event_id, id) WHERE with_record = 0",
  ];
}
