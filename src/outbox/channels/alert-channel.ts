import type { Channel } from "../channel.ts";
import { type AlertMessage, type AlertOrigin, alertContent } from "./alert-content.ts";
import { discordMessage } from "./discord.ts";
import { createHttpPost, HTTP_TIME_LIMIT_MS, type HttpTarget } from "./http-post.ts";
import { slackMessage } from "./slack.ts";
import { teamsMessage } from "./teams.ts";

export interface AlertChannelOptions extends HttpTarget {
  readonly origin: AlertOrigin;
}

/** A service for operators, which gets only alerts, as messages in its format. */
export function alertChannel(
  name: string,
  { origin, ...target }: AlertChannelOptions,
  messageOf: AlertMessage,
): Channel {
  const { post, close } = createHttpPost(target, name, true);
  return {
    name,
    destinations: [name],
    takesOnly: "alerts",
    timeLimitMs: HTTP_TIME_LIMIT_MS,
    deliver(notification, signal) {
      const body = JSON.stringify(messageOf(alertContent(notification, origin), origin.pageUrl));
      return post(body, {}, signal);
    },
    close,
  };
}

/** The services whose address is all that they need. */
export const CHAT_MESSAGES = { slack: slackMessage, teams: teamsMessage, discord: discordMessage } as const;
