import { existsSync, readFileSync } from "node:fs";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { command, DOCKERFILE, healthCheck, PROJECT_DOCKERFILE, saidBy, stages } from "./dockerfile.ts";

const packageJson = JSON.parse(readFileSync("package.json", "utf8")) as {
  scripts: Record<string, string>;
  devDependencies: Record<string, string>;
};
const [build, final] = stages();
const copies = (build?.instructions ?? [])
  .filter(({ name }) => name === "COPY")
  .flatMap(({ value }) => value.split(" ").slice(0, -1));
const nodeOptions = (line: string) => line.match(/--(?:max|v8)-[\w-]+=\d+/g);

describe("deploy/Dockerfile", () => {
  it("the linter finds no fault in the Dockerfile, and finds one in a faulty copy", () => {
    expect(validate(DOCKERFILE).map(({ message }) => message)).toEqual([]);
    expect(validate(DOCKERFILE.replace("HEALTHCHECK --interval=10s", "HEALTHCHECK --interval=10"))).not.toEqual([]);
  });

  it("the Dockerfile copies what exists, and what the build's context lets in", () => {
    const letIn = readFileSync("deploy/Dockerfile.dockerignore", "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    expect(copies.length).toBeGreaterThan(3);
    expect(copies.filter((path) => !existsSync(path))).toEqual([]);
    expect(letIn).toEqual(["*", ...copies.map((path) => `!${path.replace("./", "")}`)]);
  });

  it("the Dockerfile brings the Node that the tests run with, in both stages", () => {
    const version = packageJson.devDependencies.node;
    expect([build?.image, final?.image]).toEqual([
      `node:${version}-bookworm-slim AS build`,
      `node:${version}-bookworm-slim`,
    ]);
  });

  it("the Dockerfile starts the receiver as npm start and the unit do, and not as root", () => {
    const options = nodeOptions(packageJson.scripts.start ?? "");
    expect(options?.length).toBe(2);
    expect(nodeOptions(command(final!).join(" "))).toEqual(options);
    expect(nodeOptions(readFileSync("deploy/oncehook.service", "utf8"))).toEqual(options);
    expect(saidBy(final!, "USER")).toBe("10001:10001");
  });
});

describe("the Dockerfile of a project, in docs/production.md", () => {
  it("the project's Dockerfile passes the linter, and starts the receiver like deploy/Dockerfile", () => {
    expect(validate(PROJECT_DOCKERFILE).map(({ message }) => message)).toEqual([]);
    const [packages, own] = stages(PROJECT_DOCKERFILE);
    expect(packages?.image).toBe(build?.image.replace("AS build", "AS packages"));
    expect(own?.image).toBe(final?.image);
    const path = "node_modules/oncehook/";
    expect(command(own!)).toEqual(command(final!).map((word) => (word.startsWith("dist/") ? `${path}${word}` : word)));
    expect(healthCheck(own!)).toEqual(healthCheck(final!));
    expect([saidBy(own!, "USER"), saidBy(own!, "ENV")]).toEqual([saidBy(final!, "USER"), saidBy(final!, "ENV")]);
  });
});
