import "./panel.css";
import { type ReactNode, useEffect, useRef } from "react";
import { CopyIcon } from "../parts/copy.tsx";
import { Icon } from "../parts/icon.tsx";

interface Props {
  /** Its content, for screen readers. */
  readonly label: string;
  readonly title: ReactNode;
  /** Beside the title, such as a time. */
  readonly beside?: ReactNode;
  readonly close: () => void;
  readonly children: ReactNode;
}

/** The open row of a list, beside it. It takes the focus, so that Escape and the tab key begin in it. */
export function PanelFrame({ label, title, beside, close, children }: Props) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  return (
    <aside className="panel" aria-label={label} ref={panel} tabIndex={-1}>
      <header className="panel-head">
        <h2>{title}</h2>
        {beside}
        <CopyIcon text={window.location.href} what="link" icon="link" />
        <button type="button" className="icon-button" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </aside>
  );
}
