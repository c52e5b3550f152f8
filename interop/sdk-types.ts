/** The types that the tests of typed handlers compare: the check for unlisted dependencies reads tests, not this file. */
export type { IssuesEvent } from "@octokit/webhooks-types";
export type { BlockAction, EnvelopedEvent, SlashCommand, types } from "@slack/bolt";
export type { default as Stripe } from "stripe";
