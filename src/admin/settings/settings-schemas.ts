import { z } from "zod";
import { time, view } from "../page-schemas.ts";

const bytes = (description: string) => z.int().describe(description);

export const CONFIGURATION = view("The configuration of this process, and where each value comes from.", {
  environment: z.string(),
  version: z.string(),
  database: z.string().describe("In words, without its password."),
  values: z.array(
    z.strictObject({
      name: z.string().describe("The variable, or the option in code, such as `sources.stripe.keep`."),
      group: z.string(),
      value: z.string().nullable().describe("Null for a secret, and where nothing is set and there is no default."),
      is_secret: z.boolean().describe("Its value is never shown."),
      origin: z
        .enum(["default", "environment", "env_file", "generated", "code"])
        .describe(
          "`env_file`: of `--env`; `generated`: kept in a file since the first start; `code`: the configuration file, or `createReceiver`.",
        ),
      default_text: z.string().nullable().describe("What holds without it, where that is not one value."),
    }),
  ),
});

export const CHECKS = view("What `oncehook doctor` finds, as this process ran it last.", {
  ran_at: time().nullable().describe("Null where this process has not run it."),
  ran_by: z.string().nullable(),
  findings: z.array(
    z.strictObject({
      level: z.enum(["ok", "warning", "failure"]),
      check: z.string().describe("What was checked, such as `database` or `secrets`."),
      message: z.string().describe("What was found, and what to do."),
      remedy: z.string().optional().describe("The end of the message, where it is a sentence that says what to do."),
    }),
  ),
});

export const STORAGE = view("What is stored, and for how long.", {
  database: z.enum(["sqlite", "postgres"]),
  database_bytes: bytes("Of the whole database; of SQLite its file."),
  free_bytes: z.int().nullable().describe("The part of SQLite's file that is free for new rows; null on PostgreSQL."),
  areas: z.array(
    z.strictObject({
      area: z.enum([
        "callbacks",
        "originals",
        "records",
        "failures",
        "attempts",
        "notifications",
        "replays",
        "statements",
        "value_index",
        "audit",
        "others",
      ]),
      rows: z.int().describe("Of all its tables; estimated where there are many."),
      entries: z
        .int()
        .nullable()
        .describe(
          "Those rows that are callbacks, records and so on. Null where they are blocks, or many small things.",
        ),
      is_estimated: z.boolean().describe("Whether its rows were not counted; always on PostgreSQL."),
      bytes: bytes("On PostgreSQL with the indexes; on SQLite an estimate of the rows without them."),
    }),
  ),
  retention: z.strictObject({
    callbacks_ms: z.int().describe("Of the callback log, attempts, replays and delivered notifications."),
    records_ms: z.int().nullable().describe("Null: for ever."),
    refused_bytes: bytes("What refused callbacks may take in the log."),
    audit_ms: z.int(),
    originals: z.array(z.strictObject({ source: z.string(), keep_ms: z.int().describe("0: no originals are kept.") })),
  }),
});

export const BACKGROUND_NAMES = [
  "accepted_events",
  "retries",
  "notifications",
  "bulk_replays",
  "backfills",
  "reconciliation",
  "token_refresh",
  "value_index",
  "originals",
  "retention",
  "reencryption",
  "alerts",
  "rollups",
] as const;

export const BACKGROUND = view("What runs beside the callbacks, in this process.", {
  items: z.array(
    z.strictObject({
      name: z.enum(BACKGROUND_NAMES),
      state: z
        .enum(["running", "waiting", "off"])
        .describe("`off`: nothing is configured for it, or the application calls for its rounds."),
      every_ms: z.int().nullable().describe("The pause between two rounds."),
      last_started_at: time().nullable().describe("Of the last round that ended."),
      last_duration_ms: z.int().nullable(),
      last_failed: z.boolean().describe("The log says why; the next round tries it again."),
      next_at: time().nullable(),
    }),
  ),
});

export type ConfigurationView = z.infer<typeof CONFIGURATION>;
export type ChecksView = z.infer<typeof CHECKS>;
export type StorageView = z.infer<typeof STORAGE>;
export type BackgroundView = z.infer<typeof BACKGROUND>;
export type BackgroundName = (typeof BACKGROUND_NAMES)[number];
