import { z } from "zod";
import { object, time } from "../page-schemas.ts";

/** Audit entry; `actor` and `role` are null for an unauthenticated request. */
export const AUDIT_ENTRY = z
  .strictObject({
    id: z.int(),
    timestamp: time(),
    actor: z
      .string()
      .nullable()
      .describe(
        "`token`, a mail address, or `sub:` and the subject at the provider; null if unauthenticated.",
      ),
    role: z.enum(["viewer", "operator"]).nullable(),
    remote_address: z.string(),
    action: z.string().describe("Such as `failure.replay`, `session.begin`, `session.refused`."),
    target: z.string().nullable().describe("What it was done to, such as `platform/evt_1`."),
    detail: object().nullable(),
    outcome: z
      .enum(["done", "refused", "failed"])
      .nullable()
      .describe("Null while it is under way, and for ever where the process ended before it could tell."),
  })
  .describe("A row of the audit log.");

export const SESSION = z
  .strictObject({
    actor: z.string().describe("`token`, a mail address, or `sub:` and the subject at the provider."),
    role: z.enum(["viewer", "operator"]),
    expires_at: time().nullable().describe("Null with a token, which is asked for each time."),
    environment: z.string(),
    version: z.string().describe("Of the receiver."),
    sandbox: z.boolean().describe("Whether there is a sandbox platform."),
  })
  .describe("Who one is.");

export const SIGN_IN = z.strictObject({
  methods: z.array(z.enum(["token", "oidc"])),
  oidc_label: z.string().nullable().describe("What to call the provider; its way begins at `/sign-in/oidc`."),
  environment: z.string(),
});
export type AuditEntryView = z.infer<typeof AUDIT_ENTRY>;
export type SessionView = z.infer<typeof SESSION>;
export type SignInView = z.infer<typeof SIGN_IN>;
