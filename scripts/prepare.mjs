/**
 * Builds the dashboard after every `npm ci` and `npm install` of the project, so that `npm start` on a fresh clone has it. In
 * plain JavaScript, for the Node that npm itself runs with may be older than ours. It is npm's `postprepare`: a package
 * with `prepare` makes npm warn of an install script that it did not run, wherever its archive is installed.
 */
if (hasVite()) {
  const { build } = await import("vite");
  await build({ configFile: "dashboard/vite.config.ts", logLevel: "warn" });
} else {
  process.stdout.write(
    "The dashboard is not built: that needs the development dependencies, and what is there stays.\n",
  );
}

/** `npm ci --omit=dev` installs nothing that builds. */
function hasVite() {
  try {
    import.meta.resolve("vite");
    return true;
  } catch {
    return false;
  }
}
