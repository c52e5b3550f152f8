import { z } from "zod";
import { VERSIONS } from "../domain/index.ts";

const time = () => z.string().meta({ format: "date-time" });

const ADDRESS = z.strictObject({
  url: z.string().describe("To be registered with the platform, to the letter."),
  version: z.enum(["by_header", ...VERSIONS]).describe("`by_header`: X-API-Version chooses."),
  method: z.literal("POST"),
  event_types: z.array(z.string()),
});

const SECRET = z.strictObject({
  name: z.string().describe("The variable, and the place in it where it holds several."),
  is_previous: z.boolean().describe("Whether it is on its way out."),
  last_used_at: time().nullable(),
  advice: z.string().nullable().describe("Of a previous one: whether it can go."),
});

const AUTHENTICATION = z.strictObject({
  method: z.enum(["hmac", "token", "jwt"]),
  header: z.string(),
  secrets: z
    .array(SECRET)
    .describe("Never their values. None for a JWK Set, in which the platform rotates its keys by itself."),
});

const SOURCE = z.strictObject({
  source: z.string(),
  addresses: z.array(ADDRESS),
  authenticated_by: z.string().describe("How the methods are combined, in words."),
  authentication: z.array(AUTHENTICATION),
});

const HANDLER = z.strictObject({
  event_type: z.string(),
  versions: z.array(z.enum(VERSIONS)),
  has_prepare: z.boolean(),
  time_limit_ms: z.int(),
});

const OAUTH = z.strictObject({
  redirect_uri: z.string().describe("To be registered with the authorization server, to the letter."),
  start_url: z.string().nullable().describe("Null where no flow starts here."),
});

export const SOURCES = z
  .strictObject({
    items: z.array(SOURCE),
    oauth: OAUTH.nullable().describe("Null where nothing handles `user_authorized`."),
    handlers: z.array(HANDLER),
  })
  .describe("What platforms are to register, what they authenticate with, and what they may send.");

const REACHED_ADDRESS = z.strictObject({
  url: z.string(),
  reached: z.boolean(),
  says: z.string().describe("What was found, and where it is not well, what to do."),
  warning: z.string().nullable().describe("What may keep a platform outside from it all the same."),
  took_ms: z.number(),
  status: z.int().nullable().describe("Null where no answer came."),
});

export const REACH = z
  .strictObject({ ...REACHED_ADDRESS.shape, addresses: z.array(REACHED_ADDRESS) })
  .describe(
    "Whether the registered addresses lead to a receiver of this database. The first one that does not, or else the first one, and then each.",
  );

export type SourcesView = z.infer<typeof SOURCES>;
export type ReachView = z.infer<typeof REACH>;
