import { generate } from "selfsigned";

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** A self-signed certificate for 127.0.0.1 with a name of its own, so that two can be told apart. */
export async function certificate(commonName: string): Promise<Pair> {
  const altNames = [
    { type: 2, value: "localhost" },
    { type: 7, ip: "127.0.0.1" },
  ] as const;
  const pems = await generate([{ name: "commonName", value: commonName }], {
    keySize: 2048,
    algorithm: "sha256",
    extensions: [{ name: "subjectAltName", altNames: [...altNames] }],
  });
  return { cert: pems.cert, key: pems.private };
}
