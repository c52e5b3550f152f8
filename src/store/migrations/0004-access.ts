import type { SchemaStep } from "./schema-step.ts";

/** Who is signed in on the admin listener, and who has changed what there. */
export const access: SchemaStep = {
  number: 4,
  name: "access",
  statements: ({ id, time }) => [
    `CREATE TABLE oncehook_sessions (
      id_sha256 text PRIMARY KEY,
      who text NOT NULL,
      role text NOT NULL CHECK (role IN ('viewer', 'operator')),
      begun_with text NOT NULL,
      begun_at ${time} NOT NULL,
      expires_at ${time} NOT NULL
    )`,
    "CREATE INDEX oncehook_sessions_expires ON oncehook_sessions (expires_at)",
    `CREATE TABLE oncehook_audit (
      id ${id},
      at ${time} NOT NULL,
      who text,
      role text CHECK (role IN ('viewer', 'operator')),
      remote_address text NOT NULL,
      action text NOT NULL,
      subject text,
      detail text,
      outcome text CHECK (outcome IN ('done', 'refused', 'failed'))
    )`,
    "CREATE INDEX oncehook_audit_action ON oncehook_audit (action, id)",
    "CREATE INDEX oncehook_audit_who ON oncehook_audit (who, id)",
  ],
};
