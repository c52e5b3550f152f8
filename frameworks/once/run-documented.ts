/** Runs a block of docs/once.md twice for one event, as an application would. Argument: the block's file. */
import { pathToFileURL } from "node:url";

const [, , path = ""] = process.argv;
const { orderPaid } = (await import(pathToFileURL(path).href)) as { orderPaid(id: string): Promise<unknown> };
const outcomes = [await orderPaid("evt_1"), await orderPaid("evt_1")];
process.stdout.write(JSON.stringify(outcomes), () => process.exit(0));
