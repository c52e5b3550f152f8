import { createCipheriv, createHash } from "node:crypto";
import { dingtalk } from "../../src/sources/platforms/index.ts";
import type { PlatformProof, ProofRequest } from "../platform-proof.ts";

/** Of the last lines of DingCallbackCrypto3.py. */
const AES_KEY = "Yue0EfdN5900c1ce5cf6A152c63DDe1808a60c5ecd7";
const OWNER_KEY = "ding6ccabc44d2c8d38b";

/** As `encrypt` of DingCallbackCrypto.java: 16 random bytes, the length, the text, the owner; padded to 32. */
function encrypted(text: string): string {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  const plain = Buffer.concat([Buffer.alloc(16, "r"), length, Buffer.from(text), Buffer.from(OWNER_KEY)]);
  const count = 32 - (plain.length % 32);
  const key = Buffer.from(`${AES_KEY}=`, "base64");
  const cipher = createCipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false);
  return Buffer.concat([cipher.update(plain), cipher.update(Buffer.alloc(count, count))]).toString("base64");
}

function signed(token: string, now: Date, event: object): ProofRequest {
  const encrypt = encrypted(JSON.stringify(event));
  const timestamp = String(now.getTime());
  const sorted = [token, timestamp, "WL4PK6yA", encrypt].sort().join("");
  const signature = createHash("sha1").update(sorted).digest("hex");
  return {
    query: `?signature=${signature}&timestamp=${timestamp}&nonce=WL4PK6yA`,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify({ encrypt })),
  };
}

export const dingtalkProof: PlatformProof = {
  preset: "dingtalk",
  by: "the vector of open-dingtalk/DingTalk-Callback-Crypto, DingCallbackCrypto3.py",
  secrets: ["mryue", "a-second-token", "a-third-token"],
  source: (secrets) => dingtalk({ secret: secrets, aesKey: AES_KEY, ownerKey: OWNER_KEY }),
  callback: ({ secret, id, now }) =>
    signed(secret, now, { EventType: "user_add_org", TimeStamp: "1608001896814", UserId: [id] }),
  vector: () => ({
    secret: "mryue",
    now: new Date(1_608_001_896_814),
    request: {
      query: "?msg_signature=03044561471240d4a14bb09372dfcfd4fd0e40cb&timeStamp=1608001896814&nonce=WL4PK6yA",
      headers: {},
      body: Buffer.from(
        JSON.stringify({
          encrypt:
            "0vJiX6vliEpwG3U45CtXqi+m8PXbQRARJ8p8BbDuD1EMTDf0jKpQ79QS93qEk7XHpP6u+oTTrd15NRPvNvmBKyDCYxxOK+HZeKju4yhELOFchzNukR+t8SB/qk4ROMu3",
        }),
      ),
    },
  }),
  toleranceSeconds: null,
  handshakes: [
    {
      title: "the check of an address",
      request: ({ secret, now }) => signed(secret, now, { EventType: "check_url" }),
      response: { status: 200 },
    },
  ],
};
