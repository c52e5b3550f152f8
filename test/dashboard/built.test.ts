import { globSync, readFileSync, statSync } from "node:fs";
import { expect, it } from "vitest";

const FOLDER = "dashboard/dist";
const MAX_BYTES = 450_000;
const files = globSync(`${FOLDER}/**/*.{html,js,css,svg}`);

/**
 * Names of specifications, links in messages of the libraries, what one reads addresses against, and where a
 * copied command sends to in development: nothing is asked of them.
 */
const NAMED_ALONE =
  /^(?:http:\/\/(?:www\.w3\.org|localhost|127\.0\.0\.1)|https:\/\/(?:bit\.ly|mantine\.dev|react\.dev|redux-toolkit\.js\.org|redux\.js\.org))(?:\/|$)/;

it("the build of the dashboard exists", () => {
  expect(files).toContain(`${FOLDER}/index.html`);
});

it("the build is below 450 kB compressed, all pages together", () => {
  const assets = files.filter((file) => file.includes("/assets/"));
  const fonts = globSync(`${FOLDER}/assets/*.woff2`).reduce((sum, file) => sum + statSync(file).size, 0);
  const sizes = (ending: string) => assets.reduce((sum, file) => sum + statSync(file + ending).size, fonts);
  expect(sizes(".br")).toBeLessThan(MAX_BYTES);
  expect(sizes(".gz")).toBeLessThan(MAX_BYTES);
});

it("the build loads nothing from another host: no font, no script, no picture", () => {
  const loaded = files.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    const urls = [...text.matchAll(/https?:\/\/[\w.-]+(?:\/[\w./%-]*)?/g)].map(([url]) => url);
    const styled = /@import|url\((?!["']?(?:data:|\.\/inter-[\w-]+\.woff2))/.test(file.endsWith(".css") ? text : "");
    return [...urls.filter((url) => !NAMED_ALONE.test(url)), ...(styled ? [`${file} loads files`] : [])];
  });
  expect(loaded).toEqual([]);
});
