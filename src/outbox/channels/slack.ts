import { type AlertMessage, clip } from "./alert-content.ts";

/** Of a plain text in a header, a text in a section, and one of its fields: docs.slack.dev/reference/block-kit/blocks. */
const MAX_HEADER = 150;
const MAX_SECTION = 3_000;
const MAX_FIELD = 2_000;
/** Each character may become five where it is escaped. */
const LONGEST_ESCAPE = "&amp;".length;

/**
 * An incoming webhook's message (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks): blocks, and a text
 * for what shows none, such as a notification on a telephone. A webhook tells no message's id, so that the end of an
 * alert cannot join the thread of its start.
 */
export const slackMessage: AlertMessage = (alert, pageUrl) => {
  // Slack does not document whether a plain text has control characters.
  const title = alert.title.replaceAll("<", "‹").replaceAll(">", "›");
  const mark = alert.isResolved ? "✅" : "🔴";
  const fields = alert.facts.map(([name, value]) => markup(`*${name}*\n${escaped(value, MAX_FIELD - 50)}`));
  const page = pageUrl === undefined ? [] : [section(`<${pageUrl}|Open Oncehook>`)];
  const remedy =
    alert.remedy === undefined ? [] : [section(`*What to do:* ${escaped(alert.remedy, MAX_SECTION - 50)}`)];
  return {
    text: `${mark} ${escaped(alert.title, MAX_SECTION)}: ${escaped(alert.message, MAX_SECTION)}`,
    blocks: [
      { type: "header", text: { type: "plain_text", text: clip(`${mark} ${title}`, MAX_HEADER), emoji: false } },
      section(escaped(alert.message, MAX_SECTION)),
      ...remedy,
      { type: "section", fields },
      ...page,
    ],
  };
};

/** `verbatim`: addresses, channels and names in a text do not become links or mentions. */
const markup = (text: string) => ({ type: "mrkdwn", text, verbatim: true });
const section = (text: string) => ({ type: "section", text: markup(text) });

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/**
 * docs.slack.dev/messaging/formatting-message-text: these three are control characters, and `<!channel>` a mention of all.
 * @param max of the escaped text
 */
function escaped(text: string, max: number): string {
  const whole = withEntities(text);
  return whole.length <= max ? whole : withEntities(clip(text, Math.floor(max / LONGEST_ESCAPE)));
}

function withEntities(text: string): string {
  return text.replace(/[&<>]/g, (character) => ESCAPES[character] ?? character);
}
