import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { withReceiver } from "../support/receiver.ts";
import { command, stages } from "./dockerfile.ts";
import { schemaErrors, typeErrors } from "./kubernetes-types.ts";
import { FOLDER, type Manifest, manifests, only } from "./manifests.ts";
import { notRun, onThePath } from "./on-the-path.ts";
import { productionConfig, unknownNames } from "./production-values.ts";

const bare = () => manifests().map(({ file: _file, ...manifest }) => manifest as Manifest);
const deployment = only("Deployment").spec;
const job = only("Job").spec;
const pod = deployment.template;
const [receiver] = pod.spec.containers;
const [migration] = job.template.spec.containers;
const [, KUBERNETES = ""] =
  /^\*\*Kubernetes\.\*\* ([\s\S]*?)\n\n/m.exec(readFileSync("docs/production.md", "utf8")) ?? [];
const labelsOf = (template: { metadata: { labels: Record<string, string> } }) => template.metadata.labels;
const isIn = (selector: Record<string, string>, labels: Record<string, string>) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

describe("deploy/kubernetes", () => {
  it("deploy/kubernetes holds objects that fit the strict schemas of Kubernetes", {
    tags: "full",
    timeout: 120_000,
  }, async () => {
    for (const manifest of bare()) expect([manifest.kind, schemaErrors(manifest)]).toEqual([manifest.kind, null]);
    expect(await typeErrors(bare())).toEqual([]);
    const noImage = structuredClone(only("Deployment"));
    delete noImage.spec.selector;
    expect(schemaErrors(noImage)).toContain("selector");
    const misspelt = structuredClone(only("Deployment"));
    misspelt.spec.template.spec.containers[0].redinessProbe = {};
    expect(await typeErrors([misspelt])).toEqual([expect.stringContaining("redinessProbe")]);
  });

  it("selectors match the pods of the Deployment, and those of the migration only for the network", () => {
    const receivers = labelsOf(pod);
    const selectors = [
      deployment.selector.matchLabels,
      only("Service").spec.selector,
      only("PodDisruptionBudget").spec.selector.matchLabels,
      pod.spec.topologySpreadConstraints[0].labelSelector.matchLabels,
    ];
    for (const selector of selectors) {
      expect(Object.keys(selector).length).toBeGreaterThan(0);
      expect([isIn(selector, receivers), isIn(selector, labelsOf(job.template))]).toEqual([true, false]);
    }
    const network = only("NetworkPolicy").spec.podSelector.matchLabels;
    expect([isIn(network, receivers), isIn(network, labelsOf(job.template))]).toEqual([true, true]);
  });

  it("deploy/kubernetes names ports, accounts, configuration, secrets and volumes that it declares", () => {
    const ports = receiver.ports.map(({ name }: { name: string }) => name);
    const probes = [receiver.startupProbe, receiver.readinessProbe, receiver.livenessProbe];
    const used = [
      ...only("Service").spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort),
      ...probes.map(({ httpGet }) => httpGet.port),
      ...only("NetworkPolicy").spec.ingress.flatMap((rule: { ports: { port: string }[] }) =>
        rule.ports.map(({ port }) => port),
      ),
    ];
    expect([...new Set(used)].toSorted()).toEqual(ports.toSorted());
    for (const [{ spec }, container] of [
      [pod, receiver],
      [job.template, migration],
    ]) {
      expect(spec.serviceAccountName).toBe(only("ServiceAccount").metadata.name);
      expect(container.envFrom).toEqual([
        { configMapRef: { name: only("ConfigMap").metadata.name } },
        { secretRef: { name: only("Secret").metadata.name } },
      ]);
      expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(
        spec.volumes.map(({ name }: { name: string }) => name),
      );
    }
    expect(pod.metadata.annotations["prometheus.io/port"]).toBe(
      String(receiver.ports.find(({ name }: { name: string }) => name === "admin").containerPort),
    );
  });

  it("deploy/kubernetes keeps everything in one namespace, and applies all of it but the template and the migration", () => {
    const kustomization = parse(readFileSync(`${FOLDER}/kustomization.yaml`, "utf8"));
    const files = globSync("*.yaml", { cwd: FOLDER });
    const apart = ["kustomization.yaml", "migrate-job.yaml", "secret.example.yaml"];
    expect(kustomization.resources.toSorted()).toEqual(files.filter((file) => !apart.includes(file)).toSorted());
    const spaces = bare().map(({ kind, metadata }) => (kind === "Namespace" ? metadata.name : metadata.namespace));
    expect(new Set(spaces)).toEqual(new Set([kustomization.namespace]));
    const [{ name, newName, newTag }] = kustomization.images;
    expect(receiver.image).toBe(name);
    expect(migration.image).toBe(`${newName}:${newTag}`);
    expect(newTag).toBe(JSON.parse(readFileSync("package.json", "utf8")).version);
  });

  const kubectl = onThePath("kubectl");
  it.skipIf(kubectl === undefined)(
    kubectl === undefined
      ? notRun("kubectl", "the objects as kubectl apply -k takes them")
      : "is put together by kubectl",
    () => {
      const built = execFileSync(String(kubectl), ["kustomize", FOLDER], { encoding: "utf8" });
      const objects = parseAllDocuments(built).map((document) => document.toJS() as Manifest);
      const apart = ["Job", "Secret"];
      const kinds = bare()
        .map(({ kind }) => kind)
        .filter((kind) => !apart.includes(kind));
      expect(objects.map(({ kind }) => kind).toSorted()).toEqual(kinds.toSorted());
      const [container] = objects.find(({ kind }) => kind === "Deployment")?.spec.template.spec.containers ?? [];
      expect(container.image).toBe(migration.image);
    },
  );

  it("the Job's name contains the version, since the template of an existing Job cannot change", () => {
    expect(job.template.spec.restartPolicy).toBe("Never");
    const { name, generateName } = only("Job").metadata;
    expect([name, generateName]).toEqual([undefined, "oncehook-migrate-"]);
    // kubectl apply refuses what has no name of its own.
    const told = [readFileSync(`${FOLDER}/migrate-job.yaml`, "utf8"), KUBERNETES].map((text) =>
      /kubectl (\w+) -f (?:it|deploy\/kubernetes\/migrate-job\.yaml)/.exec(text)?.slice(1, 2),
    );
    expect(told).toEqual([["create"], ["create"]]);
  });

  it("docs/production.md applies the namespace first, then the Secret, then what needs both", () => {
    const steps = [
      "kubectl apply -f deploy/kubernetes/namespace.yaml",
      "the Secret",
      "kubectl apply -k deploy/kubernetes",
    ].map((step) => KUBERNETES.indexOf(step));
    expect(steps).not.toContain(-1);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  });

  it("deploy/kubernetes probes addresses that answer on a real receiver", () =>
    withReceiver("sqlite", async ({ adminOrigin }) => {
      const probes = [receiver.startupProbe, receiver.readinessProbe, receiver.livenessProbe];
      for (const { httpGet } of probes) expect((await fetch(adminOrigin + httpGet.path)).status).toBe(200);
    }));

  it("deploy/kubernetes configures the receiver with variables that exist, completely for production", () => {
    const values = { ...only("ConfigMap").data, ...only("Secret").stringData };
    expect(unknownNames(values)).toEqual([]);
    const config = productionConfig(values);
    expect(config.environment).toBe("production");
    const ports = Object.fromEntries(
      receiver.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [name, containerPort]),
    );
    expect([config.listen.port, config.admin.port]).toEqual([ports.public, ports.admin]);
    expect(() => productionConfig({ ...values, TRUST_PROXY: "" })).toThrow(/TRUST_PROXY/);
  });

  it("commands run in the image, as its user, with a read-only root", () => {
    const final = stages().at(-1)!;
    expect(receiver.args).toEqual([command(final).at(-1)]);
    expect(migration.args).toEqual(["migrate"]);
    for (const [{ spec }, container] of [
      [pod, receiver],
      [job.template, migration],
    ]) {
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001 });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
  });

  it("a pod drains before it is killed", () => {
    const [, wait = ""] = /setTimeout\(\(\) => \{\}, (\d+)\)/.exec(receiver.lifecycle.preStop.exec.command[2]) ?? [];
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(wait) / 1000 + 10);
  });
});
