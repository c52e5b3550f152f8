/** How this page was served; the receiver writes it into the page's head. */
function metaContent(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="oncehook-${name}"]`)?.content ?? "";
}

const written = metaContent("base-path");

/** The path of the page and its API, without a slash at its end. Empty at the root, and in development. */
export const BASE_PATH = written.startsWith("/") ? written : "";

/** Whether an application around the receiver admits people: then there is no sign-in here, and no sandbox. */
export const IS_IN_APPLICATION = metaContent("access") === "application";
