import { X509Certificate } from "node:crypto";
import { Environment, SignedDataVerifier } from "@apple/app-store-server-library";
import { SignJWT } from "jose";
import { appleAppStore } from "../../src/sources/platforms/index.ts";
import { type Issued, issueCertificate } from "../../test/support/certificate-chain.ts";
import type { PlatformProof } from "../platform-proof.ts";

const APP = { bundleId: "com.example.app", appAppleId: 1_234_567_890 };

interface Chain {
  readonly leaf: Issued;
  readonly x5c: readonly string[];
}

/** A chain as Apple's: its authority and its leaf have the extensions that say what they are for. */
async function issueChain(subject: string): Promise<[root: string, chain: Chain]> {
  const root = await issueCertificate({ subject, isAuthority: true, type: "ec" });
  const marks = { authority: ["1.2.840.113635.100.6.2.1"], leaf: ["1.2.840.113635.100.6.11.1"] };
  const authority = await issueCertificate({
    ...{
      subject: `${subject}, authority`,
      issuer: root,
      isAuthority: true,
      type: "ec",
      marks: marks.authority,
    },
  });
  const leaf = await issueCertificate({
    ...{ subject: `${subject}, leaf`, issuer: authority, type: "ec", marks: marks.leaf },
  });
  return [root.pem, { leaf, x5c: [leaf.x5c, authority.x5c, root.x5c] }];
}

const [first, second, third] = [await issueChain("One"), await issueChain("Two"), await issueChain("Three")];
const chains = new Map([first, second, third]);

function signJws(payload: object, root: string): Promise<string> {
  const chain = chains.get(root);
  if (chain === undefined) throw new Error("no such root");
  const header = { alg: "ES256", x5c: [...chain.x5c] };
  return new SignJWT({ ...payload }).setProtectedHeader(header).sign(chain.leaf.privateKey);
}

export const appleAppStoreProof: PlatformProof = {
  preset: "apple-app-store",
  by: "@apple/app-store-server-library, SignedDataVerifier.verifyAndDecodeNotification",
  secrets: [first[0], second[0], third[0]],
  source: (rootCertificates) => appleAppStore({ ...APP, rootCertificates }),
  async callback({ secret, id, now }) {
    const signedDate = now.getTime();
    const transaction = { transactionId: "2000000000000001", bundleId: APP.bundleId, signedDate };
    const signedTransactionInfo = await signJws({ ...transaction, environment: "Production" }, secret);
    const data = { ...APP, environment: "Production", bundleVersion: "1", signedTransactionInfo };
    const signedPayload = await signJws(
      { notificationType: "DID_RENEW", notificationUUID: id, version: "2.0", signedDate, data },
      secret,
    );
    return {
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify({ signedPayload })),
    };
  },
  async accepts({ body }, { secret }) {
    try {
      const { signedPayload } = JSON.parse(Buffer.from(body).toString("utf8"));
      const roots = [new X509Certificate(secret).raw];
      const { bundleId, appAppleId } = APP;
      const sdk = new SignedDataVerifier(roots, false, Environment.PRODUCTION, bundleId, appAppleId);
      const { notificationType } = await sdk.verifyAndDecodeNotification(signedPayload);
      return notificationType === "DID_RENEW";
    } catch {
      return false;
    }
  },
  toleranceSeconds: null,
  isSignedInBody: true,
};
