import { Copy } from "../../parts/copy.tsx";

interface Props {
  readonly text: string;
  /** The copied thing. */
  readonly what?: string;
}

/** A line to copy: a command to run in the project's folder, or a setting. */
export function Command({ text, what = "command" }: Props) {
  return (
    <div className="address">
      <code>{text}</code>
      <Copy text={text} what={what} isShort />
    </div>
  );
}
