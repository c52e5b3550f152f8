import { SourceLink } from "../parts/source-link.tsx";

/** Behind a title: the source that it belongs to. */
export function OfSource({ source }: { readonly source: string }) {
  return (
    <span className="quiet">
      · <SourceLink source={source} className="quiet" />
    </span>
  );
}
