/** A bundler takes `new URL("…", import.meta.url)` for a file to bundle, and fails on a folder. */
const here = import.meta.url;

/**
 * A file or folder that is installed beside the code. This module is two folders deep in the source and in the package.
 * @param path from the package's root, such as `docs/openapi.json`
 */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, here);
}
