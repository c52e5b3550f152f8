// Written by `npm run tables` from the files in this folder.

import type { PlatformProof } from "../platform-proof.ts";
import { adyenPlatformProof, adyenProof } from "./adyen.ts";
import { alipayProof } from "./alipay.ts";
import { appleAppStoreProof } from "./apple-app-store.ts";
import { awsSnsProof } from "./aws-sns.ts";
import { boxProof } from "./box.ts";
import { braintreeProof } from "./braintree.ts";
import { cloudinaryProof, cloudinarySha256Proof } from "./cloudinary.ts";
import { coinbaseCommerceProof } from "./coinbase-commerce.ts";
import { contentfulProof } from "./contentful.ts";
import { dingtalkProof } from "./dingtalk.ts";
import { discordProof } from "./discord.ts";
import { ebayProof } from "./ebay.ts";
import { elevenlabsProof } from "./elevenlabs.ts";
import { githubProof } from "./github.ts";
import { gocardlessProof } from "./gocardless.ts";
import { googlePubSubProof } from "./google-pubsub.ts";
import { hubspotProof } from "./hubspot.ts";
import { larkProof } from "./lark.ts";
import { lineProof } from "./line.ts";
import { linearProof } from "./linear.ts";
import { livekitProof } from "./livekit.ts";
import { mailgunProof } from "./mailgun.ts";
import { mollieProof } from "./mollie.ts";
import { mondayProof } from "./monday.ts";
import { notionProof } from "./notion.ts";
import { paddleProof } from "./paddle.ts";
import { paypalProof } from "./paypal.ts";
import { plaidProof } from "./plaid.ts";
import { razorpayProof } from "./razorpay.ts";
import { retellProof } from "./retell.ts";
import { sanityProof } from "./sanity.ts";
import { sendgridProof } from "./sendgrid.ts";
import { shopifyProof } from "./shopify.ts";
import { slackProof } from "./slack.ts";
import { smartcarProof } from "./smartcar.ts";
import { squareProof } from "./square.ts";
import { standardProofs } from "./standard-webhooks.ts";
import { stripeProof } from "./stripe.ts";
import { telnyxProof } from "./telnyx.ts";
import { twilioEventsProof, twilioProof } from "./twilio.ts";
import { twitchProof } from "./twitch.ts";
import { wechatPayProof } from "./wechat-pay.ts";
import { wixProof } from "./wix.ts";
import { workosProof } from "./workos.ts";
import { xeroProof } from "./xero.ts";
import { zoomProof } from "./zoom.ts";

/** Every preset that is called supported has its proof here. */
export const PROOFS: readonly PlatformProof[] = [
  adyenProof,
  adyenPlatformProof,
  alipayProof,
  appleAppStoreProof,
  awsSnsProof,
  boxProof,
  braintreeProof,
  cloudinaryProof,
  cloudinarySha256Proof,
  coinbaseCommerceProof,
  contentfulProof,
  dingtalkProof,
  discordProof,
  ebayProof,
  elevenlabsProof,
  githubProof,
  gocardlessProof,
  googlePubSubProof,
  hubspotProof,
  larkProof,
  lineProof,
  linearProof,
  livekitProof,
  mailgunProof,
  mollieProof,
  mondayProof,
  notionProof,
  paddleProof,
  paypalProof,
  plaidProof,
  razorpayProof,
  retellProof,
  sanityProof,
  sendgridProof,
  shopifyProof,
  slackProof,
  smartcarProof,
  squareProof,
  ...standardProofs,
  stripeProof,
  telnyxProof,
  twilioProof,
  twilioEventsProof,
  twitchProof,
  wechatPayProof,
  wixProof,
  workosProof,
  xeroProof,
  zoomProof,
];
