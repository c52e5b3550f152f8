import { Copy } from "../../parts/copy.tsx";

/** A command to run in the project's folder. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div className="address">
      <code>{text}</code>
      <Copy text={text} what="command" />
    </div>
  );
}
