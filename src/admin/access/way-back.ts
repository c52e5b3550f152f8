/** A path of this origin with query and fragment, encoded as addresses are. */
export type WayBack = string & { readonly isWayBack: true };

/** In bytes; a cookie has to hold it. */
const LONGEST = 1_000;
const HERE = "http://here.invalid";
const FIRST_PAGE = "/" as WayBack;

/**
 * Where somebody wanted to go who has to sign in first. Anybody may have written it into an address, so that it leads nowhere but to
 * another page here, and not into another sign-in; what does not is the first page.
 */
export function wayBackOf(asked: unknown): WayBack {
  const url = typeof asked === "string" && asked.startsWith("/") ? URL.parse(asked, HERE) : null;
  if (url === null || url.origin !== HERE || url.pathname.startsWith("/sign-in")) return FIRST_PAGE;
  const path = `${url.pathname}${url.search}${url.hash}`;
  // A browser would take what follows two slashes for a host, and there they may be only now that the dots are gone.
  if (path.startsWith("//") || /["<>]/.test(path) || JSON.stringify(path).length > LONGEST) return FIRST_PAGE;
  return path as WayBack;
}
