import { Webhook } from "standardwebhooks";
import { gitlab } from "../../src/sources/platforms/index.ts";
import { standardProof } from "./standard.ts";

/** With a signing token; the secret token of `verify: "token"` is compared and signs nothing. */
export const gitlabProof = standardProof({
  preset: "gitlab",
  by: "standardwebhooks, Webhook.sign and verify: GitLab names the specification and has no library of its own",
  source: (options) => gitlab({ ...options, verify: "signature" }),
  body: ({ now }) => ({
    object_kind: "push",
    event_name: "push",
    ref: "refs/heads/main",
    project: { id: 15, name: "Diaspora" },
    commits: [{ id: "b6568db1bc1dcd7f8b4d5a946b0b91f9dacd7327", timestamp: now.toISOString() }],
  }),
  sign: ({ secret, id, now }, payload) => new Webhook(secret).sign(id, now, payload),
  verify: ({ payload, headers, secret }) => new Webhook(secret).verify(payload, headers),
});
