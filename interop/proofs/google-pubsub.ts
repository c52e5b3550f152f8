import { OAuth2Client } from "google-auth-library";
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";
import { googlePubSub } from "../../src/sources/platforms/index.ts";
import { startKeyServer } from "../key-server.ts";
import type { PlatformProof } from "../platform-proof.ts";

const KID = "7d680d8c70d44e947133cbd499ebc1a61c3d5abc";
const ISSUER = "https://accounts.google.com";
const pair = await generateKeyPair("RS256", { extractable: true });
const certificates = { [KID]: await exportSPKI(pair.publicKey) };
const jwk = { ...(await exportJWK(pair.publicKey)), kid: KID, alg: "RS256", use: "sig" };
const sdk = new OAuth2Client();
let origin = "";

export const googlePubSubProof: PlatformProof = {
  preset: "google-pubsub",
  by: "google-auth-library, verifySignedJwtWithCertsAsync",
  secrets: [
    "push@project.iam.gserviceaccount.com",
    "another@project.iam.gserviceaccount.com",
    "push@evil-project.iam.gserviceaccount.com",
  ],
  start: () =>
    startKeyServer(
      (_request, response) => response.end(JSON.stringify({ keys: [jwk] })),
      (address) => {
        origin = address;
      },
    ),
  source: (serviceAccount) => googlePubSub({ serviceAccount, keysUrl: `${origin}/oauth2/v3/certs` }),
  async callback({ secret, id, now, url }) {
    const iat = Math.floor(now.getTime() / 1000);
    const claims = {
      aud: url,
      azp: "1137",
      sub: "1137",
      email: secret,
      email_verified: true,
      exp: iat + 3_600,
    };
    const token = await new SignJWT({ ...claims, iat, iss: ISSUER })
      .setProtectedHeader({ alg: "RS256", kid: KID, typ: "JWT" })
      .sign(pair.privateKey);
    const data = Buffer.from('{"name":"a.txt"}').toString("base64");
    const message = {
      data,
      messageId: id,
      publishTime: now.toISOString(),
      attributes: { eventType: "OBJECT_FINALIZE" },
    };
    return {
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: Buffer.from(JSON.stringify({ message, subscription: "projects/p/subscriptions/s" })),
    };
  },
  async accepts({ headers }, { secret, url }) {
    const token = headers.authorization?.slice("Bearer ".length) ?? "";
    const ticket = await sdk.verifySignedJwtWithCertsAsync(token, certificates, url, [ISSUER]);
    return ticket.getPayload()?.email === secret;
  },
  // The token's hour and the tolerance for clocks.
  toleranceSeconds: 3_610,
  signsBody: false,
  rotates: false,
};
