/**
 * A file or folder that is installed beside the code. This module is two folders deep in the source and in the package.
 * @param path from the package's root, such as `docs/openapi.json`
 */
export function packageFile(path: string): URL {
  return besideModule(`../../${path}`, import.meta.url);
}

/**
 * `new URL(path, url)`, in words that no bundler reads. Of such an expression Turbopack bundles the file, or the whole folder.
 */
export function besideModule(path: string, url: string): URL {
  return Reflect.construct(URL, [path, url]) as URL;
}
