import { remembered } from "../../domain/index.ts";

const HEADER =
  /auth|token|secret|signature|hmac|-sig$|password|credential|api-?key|cookie|jwt|client-?cert(?:ificate)?$/;

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Secrets only as the whole name: beside other words they are states of orders, codes of errors, ids of messages. */
const WHOLE = words("code state pan card sid phpsessid jsessionid csrfmiddlewaretoken");
/** Secrets wherever they stand in a name. */
const SECRET = words(`
  password passwords passwd passw pwd pw passphrase passcode passkey pass secret secrets token credential credentials creds
  cookie cookies session sessid sessionid csrf xsrf csrftoken jwt otp totp hotp pin pincode cvv cvc cvn csc pan ssn iban
  signature signatures sig sas hmac salt verifier bearer mnemonic dsn kubeconfig apikey privatekey secretkey accesskey signingkey encryptionkey`);
/** Payments are authorized too. These are secrets at the end of a name, or before the words of the next list. */
const AUTH = words("auth authorization oauth");
const OF_AUTH = words(
  "code codes token header headers value data hash string bearer response verifier state key number",
);
/** Keys that identify a row, message or translation, or that are public. */
const SHOWN_KEYS = words(`
  public publishable idempotency primary foreign partition sort routing cache lookup object message event order payment
  customer merchant row record index map group range translation locale sort unique dedup deduplication natural business
  product item resource config setting metric label answer hot arrow sequence correlation trace lock feature i18n`);
/** Codes that are asked for once, of a person or a client. */
const CODES = words(`
  access verification verify validation security device user backup recovery login signin sms activation reset confirm
  confirmation mfa fa one time pairing enrollment unlock pickup invite invitation magic card grant oauth auth`);
const NUMBERS = words("account card security iban");
const NUMBER = words("number numbers no num nr");
/** Words that only name a secret behind these: an address with a password or token in it, a wallet's words. */
const BEHIND: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    string: words("connection conn"),
    url: words("database db redis postgres postgresql mysql mongo mongodb amqp broker magic"),
    uri: words("database db redis postgres postgresql mysql mongo mongodb amqp broker magic"),
    link: words("magic"),
    phrase: words("seed recovery mnemonic wallet"),
  }),
);
/** `max_tokens` is a count. */
const COUNTED = words("max min total used prompt completion input output cached remaining num number");
/** A name that ends so tells of a secret, and holds none. The last ones end files, whose lines stand in stacks. */
const ABOUT = words(`
  type types kind expires expiry expiration expired exp ttl lifetime age at in on until since date time timestamp created
  updated count counts length len size limit max min status algorithm alg algo method methods version enabled disabled
  required verified valid invalid supported present exists format encoding policy name names prefix issuer audience scope
  scopes endpoint provider brand network last attempts tries remaining usage used mode reason error errors exception failure failed
  missing mismatch malformed refused unknown timeout country
  currency duration tolerance window seconds minutes hours days start started end ended ts js mjs cjs mts cts tsx jsx json html py php rb go rs java sql`);

/** Secret words run together, in letters of one case: only the end of such a name tells them. */
const RUN_TOGETHER =
  /(?:token|secret|password|passwd|passphrase|apikey|privatekey|secretkey|accesskey|signingkey|encryptionkey|sessionkey|masterkey|sessionid|credentials?|authorization|cookie|signature|authcode|authorizationcode|accesscode|verificationcode|securitycode|codeverifier|tokenvalue|pincode|passcode|cardnumber|accountnumber|cvv2?|cvc2?|connectionstring|databaseurl|kubeconfig|mnemonic|seedphrase|magiclink|track[123](?:equivalent)?(?:data)?)$/;
/** Most names have none of these; it is quicker to see than their words are to split. */
const MAY_BE =
  /auth|token|secret|pass|pw|cred|cookie|sess|sid|csrf|xsrf|jwt|otp|pin|cv|csc|pan|ssn|iban|sig|hmac|salt|verifier|bearer|key|code|state|card|account|number|secur|dsn|conn|url|uri|sas|kubeconfig|mnemonic|phrase|magic|track[123]/;

const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;
const BETWEEN_WORDS = /[_\-. ]/g;

/** The short keys and headers of one platform's events repeat. The long ones of any other client must not pile up. */
const REMEMBERED = [1_000, 64] as const;
/** No platform has a name as long. A longer one is not worth the budget, and its value is not shown. */
const LONGEST_NAME = 512;

/** Of a request's transport; proxies and clients write these, and no platform proves anything by them. */
const HARMLESS = words(`
  host connection content-type content-length content-encoding transfer-encoding accept accept-encoding accept-language
  user-agent date via forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-forwarded-port x-real-ip x-request-id
  traceparent expect`);

/** Whether a header, in lower case, may be what a function of the configuration reads. */
export const mayBeCredential = (name: string): boolean => !HARMLESS.has(name);

/** Tells header names whose values are secrets. Names are in lower case. */
export function sensitiveHeaders(configured: readonly string[]): (name: string) => boolean {
  const names = new Set(configured.map((name) => name.toLowerCase()));
  return remembered((name) => HEADER.test(name) || names.has(name) || namesSecret(name, plain(name)), ...REMEMBERED);
}

/**
 * Tells JSON keys and parameters whose values are secrets by the words of their names. These are in snake, kebab, camel
 * or Pascal case. The words are those of Rails (`filter_parameter_logging.rb`: passw, secret, token, _key, crypt, salt,
 * otp, ssn, cvv, cvc) and of Sentry. Sentry's are in `DEFAULT_DENYLIST` of sentry-sdk's scrubber.py. Others are from
 * OWASP's Logging Cheat Sheet: session identification values, access tokens, passwords, encryption keys, payment card
 * holder data. The parameters of RFC 6749, 7636 and 8628 are added. docs/hardening.md lists them all.
 */
export function sensitiveKeys(configured: readonly string[]): (key: string) => boolean {
  const keys = new Set(configured.map(plain));
  return remembered(
    (key) => {
      const name = plain(key);
      return keys.has(name) || namesSecret(key, name);
    },
    ...REMEMBERED,
  );
}

/** Tells the JSON keys whose values may name the state of something, unless the configuration hides them. */
export function stateKeys(configured: readonly string[]): (key: string) => boolean {
  const isConfigured = configured.some((key) => plain(key) === "state");
  return (key) => !isConfigured && plain(key) === "state";
}

function namesSecret(name: string, plainName: string): boolean {
  if (name.length > LONGEST_NAME) return true;
  if (!MAY_BE.test(plainName)) return false;
  return WHOLE.has(plainName) || RUN_TOGETHER.test(plainName) || wordsNameSecret(wordsOf(name));
}

/** Digits at the end number what stands before them: `token2`, `last4`. */
function wordsOf(name: string): readonly string[] {
  const found = name.match(WORD)?.map((word) => word.toLowerCase()) ?? [];
  while (found.length > 1 && /^\d/.test(found.at(-1) ?? "")) found.pop();
  return found;
}

function wordsNameSecret(found: readonly string[]): boolean {
  const last = found.length - 1;
  if (last > 0 && ABOUT.has(found[last] ?? "")) return false;
  return found.some((word, at) => {
    const before = found[at - 1] ?? "";
    if (SECRET.has(word)) return true;
    if (word === "tokens") return !COUNTED.has(before);
    if (AUTH.has(word)) return at === last || OF_AUTH.has(found[at + 1] ?? "");
    if (word === "key" || word === "keys") return at > 0 && !SHOWN_KEYS.has(before);
    if (word === "code" || word === "codes") return CODES.has(before);
    if (NUMBER.has(word)) return NUMBERS.has(before);
    return BEHIND.get(word)?.has(before) ?? false;
  });
}

function plain(key: string): string {
  return key.toLowerCase().replace(BETWEEN_WORDS, "");
}
