import { type AlertMessage, clip } from "./alert-content.ts";

/** "Embed Limits" of docs.discord.com/developers/resources/message; they are 6,000 together. */
const MAX_TITLE = 256;
const MAX_DESCRIPTION = 2_500;
const MAX_FIELD = 500;
const RED = 0xe0_31_31;
const GREEN = 0x2f_9e_44;

/**
 * "Execute Webhook" of docs.discord.com/developers/resources/webhook: one embed. No text in it can mention people: embeds do
 * not, and `allowed_mentions` names none.
 */
export const discordMessage: AlertMessage = (alert, pageUrl) => {
  const remedy = alert.remedy === undefined ? "" : `\n\n**What to do:** ${clip(alert.remedy, MAX_FIELD)}`;
  return {
    username: "Oncehook",
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: escaped(alert.title, MAX_TITLE),
        description: `${escaped(alert.message, MAX_DESCRIPTION - MAX_FIELD - 50)}${remedy}`,
        color: alert.isResolved ? GREEN : RED,
        fields: alert.facts.map(([name, value]) => ({ name, value: escaped(value, MAX_FIELD), inline: true })),
        ...(pageUrl === undefined ? {} : { url: pageUrl }),
      },
    ],
  };
};

/** Discord's markdown shows a character after a backslash as it is. @param max of the escaped text */
function escaped(text: string, max: number): string {
  const whole = withBackslashes(text);
  return whole.length <= max ? whole : withBackslashes(clip(text, Math.floor(max / 2)));
}

function withBackslashes(text: string): string {
  return text.replace(/[\\*_~`|<>[\]()@]|:(?=\/\/)/g, "\\$&");
}
