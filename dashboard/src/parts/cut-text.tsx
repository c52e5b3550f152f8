import "./cut-text.css";

const LONG = 40;
const END = 24;

/** One line, whose middle is left out where there is no room: errors and counts differ at their ends. */
export function CutText({ text }: { readonly text: string }) {
  if (text.length <= LONG) return text;
  const space = text.indexOf(" ", text.length - END);
  const at = space === -1 ? text.length - END : space;
  return (
    <span className="cut-text">
      <span>{text.slice(0, at)}</span>
      <span>{text.slice(at)}</span>
    </span>
  );
}
