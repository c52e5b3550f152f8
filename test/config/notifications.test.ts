import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, loadConfig } from "../../src/config/index.ts";
import { notificationChannels } from "../../src/configured/notification-channels.ts";
import { createMask } from "../../src/observability/index.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { certificate } from "../support/certificate.ts";
import { WEBHOOK_SECRET } from "../support/notified.ts";

const BASE = {
  SIGNING_SECRET: "a-signing-secret-of-32-bytes-or-more",
  ENCRYPTION_KEY: Buffer.alloc(32, 9).toString("base64"),
  ADMIN_TOKEN: "an-admin-token-long-enough",
};
const HOOK = "https://hooks.example.com/services/T0/AbCdEfGhIjKlMnOpQrSt?sig=0123456789abcdef&env=production";
const WEBHOOK = { ...BASE, NOTIFY_WEBHOOK_URL: HOOK, NOTIFY_WEBHOOK_SECRET: WEBHOOK_SECRET };

function problems(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

it("a webhook's secret that is shown as v1,whsec_ is the same secret", () => {
  const { webhook } = loadConfig({ ...WEBHOOK, NOTIFY_WEBHOOK_SECRET: `v1,${WEBHOOK_SECRET}` }).notifications;
  expect(webhook?.secret).toBe(WEBHOOK_SECRET);
});

describe("the address of a webhook", () => {
  it("a webhook's address is masked, and so is each part that can be its secret", () => {
    const mask = createMask({ secretValues: loadConfig(WEBHOOK).secretValues });
    expect(mask.text(`POST ${HOOK} failed`)).toBe("POST [masked] failed");
    expect(mask.text("GET /services/T0/AbCdEfGhIjKlMnOpQrSt")).toBe("GET /services/T0/[masked]");
    expect(mask.text("0123456789abcdef of production")).toBe("[masked] of production");
  });

  it("a refused webhook's address is not shown", () => {
    const odd = problems({ ...WEBHOOK, NOTIFY_WEBHOOK_URL: "ftp://hooks.example.com/the-secret" });
    expect(odd).toEqual([
      "NOTIFY_WEBHOOK_URL: got a value of 34 bytes, expected an http(s) address; in production https",
    ]);
    const plain = { ...WEBHOOK, APP_ENV: "production", NOTIFY_WEBHOOK_URL: HOOK.replace("https", "http") };
    expect(problems(plain)).toContain(
      "NOTIFY_WEBHOOK_URL: got an http address, expected an https address in production",
    );
  });
});

describe("the services of alerts", () => {
  it.each(["ALERT_SLACK_URL", "ALERT_TEAMS_URL", "ALERT_DISCORD_URL"])(
    "%s switches the usual alerts on, and is masked with the parts that can be its secret",
    (name) => {
      const { alerts, secretValues } = loadConfig({ ...BASE, [name]: HOOK });
      expect(alerts.kinds).toEqual(["failures", "accepted", "signatures"]);
      const mask = createMask({ secretValues });
      expect(mask.text(`POST ${HOOK} failed`)).toBe("POST [masked] failed");
      expect(mask.text("GET /services/T0/AbCdEfGhIjKlMnOpQrSt")).toBe("GET /services/T0/[masked]");
    },
  );

  it("PagerDuty's key has 32 characters, is masked, and goes to the address for the United States by default", () => {
    const ALERT_PAGERDUTY_KEY = "Zx9Kq2Vw7Lm4Tb8Rc1Yp6Ns3Hd5Jf0Ga";
    const { alerts, notifications, secretValues } = loadConfig({ ...BASE, ALERT_PAGERDUTY_KEY });
    expect(alerts.kinds).toContain("failures");
    const url = "https://events.pagerduty.com/v2/enqueue";
    expect(notifications.alertChannels.pagerDuty).toEqual({ key: ALERT_PAGERDUTY_KEY, url });
    expect(createMask({ secretValues }).text(ALERT_PAGERDUTY_KEY)).toBe("[masked]");
    expect(problems({ ...BASE, ALERT_PAGERDUTY_KEY: "short" })).toEqual([
      "ALERT_PAGERDUTY_KEY: got a value of 5 bytes, expected the 32 characters of an integration key",
    ]);
  });
});

describe("the address of a mail server", () => {
  it.each(["smtps://user:100%@mail.example.com", "smtps://a%zz:b@mail.example.com"])(
    "a mail server's address is refused where its login cannot be decoded: %s",
    (url) => {
      expect(problems({ ...BASE, SMTP_URL: url, NOTIFY_EMAIL_TO: "a@example.com" })).toEqual([
        expect.stringMatching(/^SMTP_URL: got a value of \d+ bytes, expected smtps:.* percent-encoded/),
      ]);
    },
  );
});

describe("NOTIFY_CA_FILE", () => {
  it.each([
    ["holds no certificate in PEM", "not a certificate\n"],
    ["holds a certificate that cannot be read", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
  ])("NOTIFY_CA_FILE is refused where it %s", async (why, content) => {
    const folder = await mkdtemp(join(tmpdir(), "oncehook-ca-"));
    const file = join(folder, "ca.pem");
    await writeFile(file, content);
    const channels = notificationChannels(
      loadConfig({ ...WEBHOOK, NOTIFY_CA_FILE: file }),
      recordedLog(),
      createMask({}),
    );
    await expect(channels).rejects.toMatchObject({
      name: "ConfigError",
      problems: [expect.stringContaining(`NOTIFY_CA_FILE: got ${JSON.stringify(file)}, which ${why}`)],
    });
    await rm(folder, { recursive: true });
  });

  it("NOTIFY_CA_FILE can hold several certificates, with words between them", async () => {
    const folder = await mkdtemp(join(tmpdir(), "oncehook-ca-"));
    const file = join(folder, "ca.pem");
    const pairs = [await certificate("one"), await certificate("two")];
    await writeFile(file, pairs.map(({ cert }) => `# an authority - of ours\n${cert}`).join("\n"));
    const channels = await notificationChannels(
      loadConfig({ ...WEBHOOK, NOTIFY_CA_FILE: file }),
      recordedLog(),
      createMask({}),
    );
    expect(channels).toHaveLength(1);
    await channels[0]?.close?.();
    await rm(folder, { recursive: true });
  });
});

describe("alerts", () => {
  it("alerts of failures, accepted events and signatures are on with a channel, and off without one", () => {
    expect(loadConfig(WEBHOOK).alerts).toEqual({
      kinds: ["failures", "accepted", "signatures"],
      acceptedSeconds: 300,
      silenceFloor: 20,
    });
    expect(loadConfig(BASE).alerts.kinds).toEqual([]);
  });

  it("ALERTS chooses the alerts, with any channel or none", () => {
    expect(loadConfig({ ...BASE, ALERTS: "silence, failures", ALERT_SILENCE_FLOOR: "50" }).alerts).toEqual({
      kinds: ["silence", "failures"],
      acceptedSeconds: 300,
      silenceFloor: 50,
    });
    expect(loadConfig({ ...WEBHOOK, ALERTS: "off" }).alerts.kinds).toEqual([]);
  });

  it("unknown alerts are refused with what is expected", () => {
    expect(problems({ ...BASE, ALERTS: "failures,quiet" })).toEqual([
      'ALERTS: got "failures,quiet", expected some of failures,accepted,signatures,silence, or off',
    ]);
    expect(problems({ ...BASE, ALERTS: ",", ALERT_SILENCE_FLOOR: "3" })).toEqual([
      'ALERTS: got ",", expected some of failures,accepted,signatures,silence, or off',
      'ALERT_SILENCE_FLOOR: got "3", expected a whole number from 10 to 1000000',
    ]);
  });
});
