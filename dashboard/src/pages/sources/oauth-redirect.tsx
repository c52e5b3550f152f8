import type { SourcesView } from "oncehook/admin-client";
import { Copy } from "../../parts/copy.tsx";
import { EndpointCheck } from "./endpoint-check.tsx";

/** The address to register with the authorization server. */
export function OAuthRedirect({ oauth }: { readonly oauth: NonNullable<SourcesView["oauth"]> }) {
  const { redirect_uri, start_url } = oauth;
  return (
    <section className="oauth" aria-labelledby="oauth">
      <h2 id="oauth">OAuth redirect</h2>
      <div className="address">
        <code>{redirect_uri}</code>
        <Copy text={redirect_uri} what="redirect URL" isShort />
        <EndpointCheck source="oauth" />
      </div>
      <p className="quiet">
        Register it with the authorization server exactly as it is.{" "}
        {start_url === null ? "No flow starts here: your platform begins them." : `A flow starts at ${start_url}`}
      </p>
    </section>
  );
}
