import type { CallbackView } from "../../src/admin-client/index.ts";
import type { TestReceiver } from "./receiver.ts";
import { TOKEN } from "./secrets.ts";

/** The callback log with headers and bodies, newest first, as the export has it: a list leaves them out. */
export async function wholeCallbacks(receiver: TestReceiver): Promise<readonly CallbackView[]> {
  // The list stores what still waits to be written.
  await receiver.admin("/api/v1/callbacks?limit=1");
  const headers = { authorization: `Bearer ${TOKEN}` };
  const response = await fetch(`${receiver.adminOrigin}/api/v1/callbacks/export`, { headers });
  return (await response.text()).split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}
