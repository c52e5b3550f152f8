// Written by `npm run tables` from the files in platforms/ and generic/.

/** The presets that a secret is enough for. */
export const SECRET_IS_ENOUGH = [
  "adyen adyen-platform airtable airwallex anthropic asana auth0 bigcommerce bitbucket box brex calendly",
  "chargebee checkout-com clerk cloudflare cloudinary coinbase-commerce commerce-layer contentful",
  "customer-io discord docusign dropbox dropbox-sign elevenlabs fastspring figma flutterwave front",
  "fusionauth gemini github gitlab gocardless hubspot intercom jira lark lemon-squeezy line linear",
  "linkedin lithic loops mailgun microsoft-graph mollie monday notion nylas okta openai paddle pagerduty",
  "paystack pipedrive polar postmark razorpay recall recharge render replicate resend retell revenuecat",
  "revolut ringcentral sanity sendgrid sentry sharepoint shipbob shopify slack smartcar solidgate square",
  "standard-webhooks stripe svix telegram telnyx tiktok trello twilio twilio-events twitch typeform",
  "vercel walmart wise woocommerce workos x xero zendesk zoom",
] as const;

/** The functions of the others. */
export const WITH_OPTIONS = [
  "alipay antom appleAppStore awsSns braintree custom dingtalk ebay googlePubSub hmac livekit",
  "messageSignatures meta paypal plaid publicKey tiktokShop token wechatPay whatsapp wix",
];

/** The presets whose platform sends the secret itself. */
export const LEARNING = ["asana notion"];
