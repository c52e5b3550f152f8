import type { JsonObject } from "../../domain/index.ts";
import { type AlertMessage, clip } from "./alert-content.ts";

/** A message may have 28 KB (learn.microsoft.com/microsoftteams/limits-specifications-teams); each part is far below it. */
const MAX_PART = 2_000;

/**
 * One Adaptive Card as an attachment, which Teams' workflow "When a Teams webhook request is received" posts
 * (learn.microsoft.com/connectors/teams, learn.microsoft.com/adaptive-cards). All texts are runs, which have no markdown:
 * nothing that a platform sent becomes a link. A mention would need an entity that the card does not have.
 */
export const teamsMessage: AlertMessage = (alert, pageUrl) => {
  const color = alert.isResolved ? "Good" : "Attention";
  const page = pageUrl === undefined ? [] : [{ type: "Action.OpenUrl", title: "Open Oncehook", url: pageUrl }];
  const remedy = alert.remedy === undefined ? [] : [line(bold("What to do: "), run(alert.remedy))];
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.2",
          // Shown where a client cannot show the card.
          fallbackText: clip(`${alert.title}: ${alert.message}`, MAX_PART),
          body: [
            line({ ...bold(alert.title), size: "Medium", color }),
            line(run(alert.message)),
            ...remedy,
            ...alert.facts.map(([name, value]) => line(bold(`${name}: `), run(value))),
          ],
          actions: page,
          msteams: { width: "Full" },
        },
      },
    ],
  };
};

const run = (text: string) => ({ type: "TextRun", text: clip(text, MAX_PART) });
const bold = (text: string) => ({ ...run(text), weight: "Bolder" });
const line = (...inlines: JsonObject[]) => ({ type: "RichTextBlock", inlines });
