import type { SourceDetailsView } from "oncehook/admin-client";
import { Copy } from "../../parts/copy.tsx";
import { useMayChange } from "../../session.ts";
import type { SourceView } from "../../views.ts";
import { Command } from "./command.tsx";
import { EndpointCheck } from "./endpoint-check.tsx";

interface Props {
  readonly source: SourceView;
  readonly lastCheck: SourceDetailsView["last_check"];
}

/** The one address to register, and whether it leads here. */
export function Registration({ source: { source, addresses }, lastCheck }: Props) {
  const [first, ...others] = addresses;
  const mayChange = useMayChange();
  if (first === undefined) return null;
  return (
    <section aria-labelledby="register">
      <h2 id="register">Endpoint URL (register exactly)</h2>
      <div className="address">
        <code className="url">{first.url}</code>
        <Copy text={first.url} what="endpoint URL" isShort />
        <EndpointCheck source={source} last={lastCheck} />
      </div>
      {!mayChange && lastCheck === null && <Command text="npx oncehook sources --check" />}
      {others.length > 0 && (
        <details>
          <summary>Also served</summary>
          {others.map(({ url, version }) => (
            <p key={url} className="quiet">
              <code>{url}</code> {version === "by_header" ? "" : version}
            </p>
          ))}
        </details>
      )}
    </section>
  );
}
