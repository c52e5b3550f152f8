import { join } from "node:path";
import { expect, it } from "vitest";
import { stripeCallback } from "../../test/support/application.ts";
import { runChild } from "../../test/support/child.ts";
import { withMigrated } from "../../test/support/databases.ts";
import { fileBlocks } from "../../test/support/doc-blocks.ts";
import { lambdaEvent } from "../../test/support/lambda-events.ts";
import { pageVariables, STRIPE_SECRET, withPageFiles } from "./page-application.ts";

/** As Lambda's runtime calls the functions: one event after the other, then the schedule's. */
const INVOKE = `import { handler, work } from "./callbacks.ts";
const answers = [];
for (const event of JSON.parse(process.argv[2])) answers.push(JSON.parse((await handler(event)).body));
process.stdout.write(JSON.stringify([...answers, await work()]), () => process.exit());
`;

it("the functions of docs/frameworks/lambda.md handle a callback once, and do what is due", () =>
  withMigrated("postgres", ({ url }) =>
    withPageFiles({ ...fileBlocks("docs/frameworks/lambda.md"), "invoke.ts": INVOKE }, async (folder) => {
      const callback = stripeCallback(undefined, STRIPE_SECRET);
      const path = "/api/stripe/callback";
      const events = [lambdaEvent(callback, { path }), lambdaEvent(callback, { path, isBase64Encoded: true })];
      const { stdout, stderr } = await runChild(
        join(folder, "invoke.ts"),
        [JSON.stringify(events)],
        pageVariables(url),
      );
      expect([stderr, JSON.parse(stdout)]).toEqual([
        "",
        [
          { status: "success", data: { handled: callback.id } },
          { status: "already_processed" },
          { ran: 0, isDone: true },
        ],
      ]);
    }),
  ));
