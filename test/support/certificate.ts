import { generate } from "selfsigned";

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

type AltName = { readonly type: 2; readonly value: string } | { readonly type: 7; readonly ip: string };

export interface CertificateOptions {
  /** Who it is for; without them, this machine. */
  readonly altNames?: readonly AltName[];
  readonly notBeforeDate?: Date;
  readonly notAfterDate?: Date;
}

const THIS_MACHINE: readonly AltName[] = [
  { type: 2, value: "localhost" },
  { type: 7, ip: "127.0.0.1" },
];

/** A self-signed certificate for 127.0.0.1 with a name of its own, so that a test can distinguish two. */
export async function certificate(
  commonName: string,
  { altNames = THIS_MACHINE, ...dates }: CertificateOptions = {},
): Promise<Pair> {
  const pems = await generate([{ name: "commonName", value: commonName }], {
    keySize: 2048,
    algorithm: "sha256",
    ...dates,
    extensions: [{ name: "subjectAltName", altNames: [...altNames] }],
  });
  return { cert: pems.cert, key: pems.private };
}
