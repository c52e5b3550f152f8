import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "selfsigned";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Config } from "../../src/config/index.ts";
import { checkCertificate } from "../../src/doctor/run-doctor.ts";
import { testConfig } from "../support/receiver.ts";

type Issued = Awaited<ReturnType<typeof generate>>;

const OPTIONS = { keySize: 2048, algorithm: "sha256" } as const;
const config = testConfig({ dialect: "sqlite", url: "sqlite:/never/opened.db" });
let folder = "";
let alone: Issued;
let authority: Issued;
let leaf: Issued;

function issue(commonName: string, from?: Issued): Promise<Issued> {
  const ca = from === undefined ? {} : { ca: { key: from.private, cert: from.cert } };
  const names = [{ type: 7, ip: "127.0.0.1" }] as const;
  const extensions: object[] = [{ name: "subjectAltName", altNames: [...names] }];
  if (commonName === "authority") extensions.push({ name: "basicConstraints", cA: true, critical: true });
  return generate([{ name: "commonName", value: commonName }], { ...OPTIONS, ...ca, extensions } as object);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oncehook-certificate-"));
  alone = await issue("alone");
  authority = await issue("authority");
  leaf = await issue("leaf", authority);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function found(
  key: Issued,
  certs: readonly Issued[],
  trusted: readonly Issued[] = [],
  environment: Config["environment"] = "production",
): Promise<string[]> {
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  await writeFile(certFile, certs.map(({ cert }) => cert).join("\n"));
  await writeFile(keyFile, key.private);
  const listen = { ...config.listen, tls: { certFile, keyFile } };
  const authorities = trusted.length === 0 ? undefined : () => trusted.map(({ cert }) => cert);
  const findings = await checkCertificate({ ...config, listen, environment }, new Date(), authorities);
  return findings.map(({ level, message }) => `${level} ${message}`);
}

it("doctor warns in production of a self-signed certificate, which development may have", async () => {
  expect(await found(alone, [alone])).toEqual([expect.stringMatching(/^warning is self-signed/)]);
  expect(await found(alone, [alone], [], "development")).toEqual([expect.stringMatching(/^ok /)]);
});

it("doctor warns in production of a chain that ends at an authority that Node does not know", async () => {
  expect(await found(leaf, [leaf, authority])).toEqual([
    expect.stringMatching(/^warning ends at an authority that Node does not know/),
  ]);
});

it("doctor warns in production of a chain that lacks a certificate, and names its issuer", async () => {
  expect(await found(leaf, [leaf])).toEqual([
    expect.stringMatching(/^warning has no complete chain: .+ lacks the certificate of its issuer \(CN=authority\)/),
  ]);
});

it("doctor finds the certificate right whose chain ends at a known authority, be that in the file or not", async () => {
  for (const chain of [[leaf], [leaf, authority]])
    expect(await found(leaf, chain, [authority])).toEqual([expect.stringMatching(/^ok is for 127\.0\.0\.1/)]);
});
