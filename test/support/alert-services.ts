import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { withHttpServer } from "./http-server.ts";

const plain = (max: number) =>
  z.strictObject({
    type: z.literal("plain_text"),
    text: z
      .string()
      .regex(/^[^<>]+$/)
      .max(max),
    emoji: z.boolean(),
  });
/** In Slack's markup `<…>` is a link or a mention; the only one that may come is the link to the page. */
const mrkdwn = (max: number) =>
  z.strictObject({
    type: z.literal("mrkdwn"),
    text: z
      .string()
      .min(1)
      .max(max)
      .refine((raw) => !/<(?!https:\/\/oncehook\.example\.com\|)|&(?!amp;|lt;|gt;)/.test(raw)),
    verbatim: z.boolean(),
  });

/** docs.slack.dev/reference/block-kit/blocks: the header and the section block. */
const SLACK = z.strictObject({
  text: z
    .string()
    .min(1)
    .max(40_000)
    .refine((raw) => !/<|&(?!amp;|lt;|gt;)/.test(raw)),
  blocks: z
    .array(
      z.discriminatedUnion("type", [
        z.strictObject({ type: z.literal("header"), text: plain(150) }),
        z.strictObject({
          type: z.literal("section"),
          text: mrkdwn(3_000).optional(),
          fields: z.array(mrkdwn(2_000)).min(1).max(10).optional(),
        }),
      ]),
    )
    .max(50),
});

const run = z.strictObject({
  type: z.literal("TextRun"),
  text: z.string().min(1),
  weight: z.enum(["Default", "Lighter", "Bolder"]).optional(),
  size: z.enum(["Small", "Default", "Medium", "Large", "ExtraLarge"]).optional(),
  color: z.enum(["Default", "Attention", "Good", "Warning"]).optional(),
});
/** learn.microsoft.com/connectors/teams: the body of "When a Teams webhook request is received". */
const TEAMS = z.strictObject({
  type: z.literal("message"),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal("application/vnd.microsoft.card.adaptive"),
      contentUrl: z.null(),
      content: z.strictObject({
        $schema: z.literal("http://adaptivecards.io/schemas/adaptive-card.json"),
        type: z.literal("AdaptiveCard"),
        version: z.enum(["1.2", "1.3", "1.4", "1.5"]),
        fallbackText: z.string(),
        body: z.array(z.strictObject({ type: z.literal("RichTextBlock"), inlines: z.array(run).min(1) })).min(1),
        actions: z.array(z.strictObject({ type: z.literal("Action.OpenUrl"), title: z.string(), url: z.url() })),
        msteams: z.strictObject({ width: z.literal("Full") }),
      }),
    }),
  ]),
});
const TEAMS_MAX_BYTES = 28 * 1_024;

/** docs.discord.com/developers/resources/webhook, and "Embed Limits" of resources/message. */
const DISCORD = z.strictObject({
  username: z.string().min(1).max(80),
  allowed_mentions: z.strictObject({ parse: z.tuple([]) }),
  embeds: z
    .array(
      z.strictObject({
        title: z.string().max(256),
        description: z.string().max(4_096),
        url: z.url().optional(),
        color: z.int().min(0).max(0xff_ff_ff),
        fields: z
          .array(
            z.strictObject({
              name: z.string().min(1).max(256),
              value: z.string().min(1).max(1_024),
              inline: z.boolean(),
            }),
          )
          .max(25),
      }),
    )
    .max(10)
    .refine((embeds) => JSON.stringify(embeds).length <= 6_000),
});

/** developer.pagerduty.com/docs/send-alert-event. */
const PAGERDUTY = z.strictObject({
  routing_key: z.string().length(32),
  event_action: z.enum(["trigger", "acknowledge", "resolve"]),
  dedup_key: z.string().min(1).max(255),
  client: z.string(),
  client_url: z.url().optional(),
  links: z.array(z.strictObject({ href: z.url(), text: z.string() })).optional(),
  payload: z.strictObject({
    summary: z.string().min(1).max(1_024),
    source: z.string().min(1),
    severity: z.enum(["critical", "error", "warning", "info"]),
    timestamp: z.iso.datetime(),
    component: z.string(),
    group: z.string(),
    class: z.string(),
    custom_details: z.record(z.string(), z.string()),
  }),
});

const SERVICES = {
  slack: { schema: SLACK, taken: [200, "ok"], refused: "invalid_blocks" },
  teams: { schema: TEAMS, taken: [202, ""], refused: "InvalidRequestContent" },
  discord: { schema: DISCORD, taken: [204, ""], refused: '{"message": "Invalid Form Body", "code": 50035}' },
  pagerduty: { schema: PAGERDUTY, taken: [202, '{"status":"success"}'], refused: '{"status":"invalid event"}' },
} as const;

export type AlertService = keyof typeof SERVICES;

export interface AlertServices {
  /** The address of a service's webhook. */
  readonly urlOf: (service: AlertService) => string;
  readonly taken: { readonly service: AlertService; readonly body: unknown; readonly text: string }[];
  /** Given to the next requests, whatever they hold. */
  readonly answers: { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }[];
}

/** Services that take a message only in the shape that their documentation describes, at `/<service>`. */
export async function withAlertServices<T>(use: (services: AlertServices) => Promise<T>): Promise<T> {
  const taken: AlertServices["taken"] = [];
  const answers: AlertServices["answers"] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const service = (request.url ?? "").slice(1) as AlertService;
    const { schema, taken: answer, refused } = SERVICES[service];
    const raw = await text(request);
    const given = answers.shift();
    if (given !== undefined) return response.writeHead(given.status, given.headers).end(given.body);
    const read = schema.safeParse(JSON.parse(raw));
    const isTooLong = service === "teams" && Buffer.byteLength(raw) > TEAMS_MAX_BYTES;
    if (!read.success || isTooLong)
      return response.writeHead(400).end(`${refused} ${read.error?.message ?? "too long"}`);
    taken.push({ service, body: read.data, text: raw });
    return response.writeHead(answer[0]).end(answer[1]);
  };
  return withHttpServer(
    (request, response) => void respond(request, response),
    (origin) => use({ urlOf: (service) => `${new URL(origin).origin}/${service}`, taken, answers }),
  );
}
