import type { Effort } from "./effort.ts";
import type { JsonNode } from "./json-text.ts";

/** The engine sorts without a pause; an object of more members stays as it is. */
const MOST_MEMBERS = 1_000;
const EACH = 16;

/** With the members of each object in the order of their keys: the same node, where they are already. */
export function* sorted(node: JsonNode, effort: Effort): Generator<undefined, JsonNode> {
  if ("raw" in node) return node;
  if (node.kind === "array") {
    const items: JsonNode[] = [];
    for (const item of node.items) {
      if (paid(effort)) yield;
      items.push("raw" in item ? item : yield* sorted(item, effort));
    }
    return items.every((item, index) => item === node.items[index]) ? node : { kind: "array", items };
  }
  const members: (readonly [string, JsonNode])[] = [];
  for (const member of node.members) {
    if (paid(effort)) yield;
    const [key, value] = member;
    const inOrder = "raw" in value ? value : yield* sorted(value, effort);
    members.push(inOrder === value ? member : [key, inOrder]);
  }
  if (members.length <= MOST_MEMBERS) members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return members.every((member, index) => member === node.members[index])
    ? node
    : { kind: "object", members };
}

function paid(effort: Effort): boolean {
  effort.take(EACH);
  return effort.isDue();
}
