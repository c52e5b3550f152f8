import { MASKED, Masked } from "./masked.tsx";
import { childPath, isTree, leafText } from "./parse-exact.ts";

/** Deeper objects begin folded. */
const OPEN_DEPTH = 3;
/** Longer lists begin folded, so that the first screen shows the shape. */
const LONG = 30;

export interface Leaf {
  readonly path: string;
  /** The value to copy; JSON of an object. */
  readonly text: string;
}

interface Props {
  readonly value: object;
  readonly selected: string | undefined;
  readonly select: (leaf: Leaf) => void;
}

export function PayloadTree({ value, selected, select }: Props) {
  return (
    <div className="tree">
      <Members value={value} path="" depth={0} selected={selected} select={select} />
    </div>
  );
}

interface MembersProps extends Props {
  readonly path: string;
  readonly depth: number;
}

function Members({ value, path, depth, selected, select }: MembersProps) {
  const isIndex = Array.isArray(value);
  return (
    <ul>
      {Object.entries(value).map(([key, one]) => {
        const at = childPath(path, key, isIndex);
        return (
          <li key={key}>
            {isTree(one) ? (
              <details open={depth < OPEN_DEPTH && Object.keys(one).length <= LONG}>
                <summary>
                  <span className="key">{key}</span> <span className="quiet">{sizeOf(one)}</span>
                </summary>
                <Members value={one} path={at} depth={depth + 1} selected={selected} select={select} />
              </details>
            ) : (
              <button
                type="button"
                className="leaf"
                aria-pressed={at === selected}
                onClick={() => select({ path: at, text: leafText(one) })}
              >
                <span className="key">{key}</span>
                <Value value={one} />
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Value({ value }: { readonly value: unknown }) {
  if (value === MASKED) return <Masked />;
  return (
    <span className={value === null ? "value quiet" : "value"}>
      {typeof value === "string" ? `"${value}"` : leafText(value)}
    </span>
  );
}

function sizeOf(value: object): string {
  const count = Object.keys(value).length;
  return Array.isArray(value) ? `[${count}]` : `{${count}}`;
}
