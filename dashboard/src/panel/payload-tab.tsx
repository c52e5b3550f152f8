import type { CallbackView } from "oncehook/admin-client";
import { useMemo, useState } from "react";
import { Copy, CopyIcon } from "../parts/copy.tsx";
import { Icon } from "../parts/icon.tsx";
import { TextBlock } from "../parts/text-block.tsx";
import { parseExact } from "./parse-exact.ts";
import { type Leaf, PayloadTree } from "./payload-tree.tsx";

/** The masked body as a tree that folds; a value or its path can be copied. */
export function PayloadTab({ callback: { body } }: { readonly callback: CallbackView }) {
  const value = useMemo(() => parseExact(body), [body]);
  const [isRaw, setRaw] = useState(false);
  const [leaf, setLeaf] = useState<Leaf>();
  if (body === "") return <p className="quiet">The body is empty, or was not taken.</p>;
  const isTree = value !== undefined && !isRaw;
  return (
    <>
      <div className="tree-bar">
        <span className="path">
          {isTree && leaf !== undefined ? <code>{leaf.path}</code> : isTree ? "Select a value to copy it" : "Raw body"}
        </span>
        {isTree && leaf !== undefined && (
          <>
            <Copy text={leaf.text} what="value" />
            <Copy text={leaf.path} what="path" />
          </>
        )}
        <CopyIcon text={body} what="body" icon="copy" />
        {value !== undefined && (
          <button
            type="button"
            className="icon-button"
            aria-label="Raw"
            title="Raw"
            aria-pressed={isRaw}
            onClick={() => setRaw(!isRaw)}
          >
            <Icon name="raw" />
          </button>
        )}
      </div>
      {isTree ? (
        <PayloadTree value={value} selected={leaf?.path} select={setLeaf} />
      ) : (
        <TextBlock label="Request body" text={body} />
      )}
    </>
  );
}
