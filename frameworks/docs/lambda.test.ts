import { join } from "node:path";
import { expect, it } from "vitest";
import { runChild } from "../../test/support/child.ts";
import { withDatabase } from "../../test/support/databases.ts";
import { fileBlocks } from "../../test/support/doc-blocks.ts";
import { rowsOf } from "../../test/support/effects.ts";
import { lambdaEvent } from "../../test/support/lambda-events.ts";
import { pageVariables, paidInvoice, withPageFiles } from "./page-application.ts";

/** As Lambda's runtime calls the functions: one event after the other, then the schedule's. */
const INVOKE = `import { handler, work } from "./callbacks.ts";
const answers = [];
for (const event of JSON.parse(process.argv[2])) answers.push(JSON.parse((await handler(event)).body));
process.stdout.write(JSON.stringify([...answers, await work()]), () => process.exit());
`;

it("the functions of docs/frameworks/lambda.md handle a callback once, and do what is due", () =>
  withDatabase("postgres", (target) =>
    withPageFiles({ ...fileBlocks("docs/frameworks/lambda.md"), "invoke.ts": INVOKE }, async (folder) => {
      const callback = paidInvoice();
      const path = "/api/stripe/callback";
      const events = [lambdaEvent(callback, { path }), lambdaEvent(callback, { path, isBase64Encoded: true })];
      const { stdout, stderr } = await runChild(
        join(folder, "invoke.ts"),
        [JSON.stringify(events)],
        pageVariables(target.url),
      );
      expect([stderr, JSON.parse(stdout)]).toEqual([
        "",
        [{ status: "success", data: { invoice: "in_1" } }, { status: "already_processed" }, { ran: 0, isDone: true }],
      ]);
      expect(await rowsOf(target, "SELECT id, cents FROM paid_invoices")).toEqual([{ id: "in_1", cents: 490 }]);
    }),
  ));
