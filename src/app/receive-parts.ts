import type { TokenCheck } from "../admin/index.ts";
import { type Config, startsFlows } from "../config/index.ts";
import { SIGNED_IN, sourceBounds, unhandledSignIn } from "../configured/index.ts";
import { type Clock, createSparingLog, endpointPaths, type Log, PLATFORM } from "../domain/index.ts";
import {
  type AdmissionSettings,
  type CaptureAccess,
  cacheExceeded,
  createDiagnoser,
  createMemoryCounter,
  type Policy,
  withFallback,
} from "../receive/index.ts";
import { builtInProtocol, createDiagnosis } from "../sources/index.ts";
import type { Store } from "../store/index.ts";
import { createAllowList } from "../system/index.ts";
import type { Assembled } from "./assemble.ts";

interface Arrival {
  /** Whether requests arrive over a TLS of this process. */
  readonly hasTls: boolean;
  readonly requireHttps: boolean;
  /** Of those who may see captured callbacks; left out where none are captured. */
  readonly tokenCheck?: TokenCheck;
}

/** The options and services that receive a request, for any listener and for an application. */
export function receiveParts({ config, services, platform, captureBuffer: buffer }: Assembled, arrival: Arrival) {
  const { receiver, source, configured } = services;
  const options = {
    addresses: endpointPaths(config.basePath, config.redirect.scopePath, {
      startsFlows: startsFlows(config),
      servesPlatform: config.servesPlatform,
      sources: configured.map(({ name, definition }) => ({ source: name, path: definition.settings.path })),
    }),
    maxBodyBytes: config.maxBodyBytes,
    sourceBounds: sourceBounds(config, configured),
    maxUnverifiedBytes: config.maxUnverifiedBytes,
    requestTimeoutMs: config.requestTimeoutMs,
  };
  const { store, clock, log } = receiver;
  const { signing, token } = config.authentication;
  const { uri: redirectUri, responseMode, successUrl, successSecret } = config.redirect;
  // Refused before the user consents, and not when the browser comes back.
  const startRefusal = unhandledSignIn(receiver.registry.find(PLATFORM, "v1", SIGNED_IN) !== undefined);
  const oauth = {
    ...{ receiver, source, platform, redirectUri, responseMode },
    sparing: createSparingLog(log, clock),
    ...{ startRefusal, successSecret },
    startPath: startRefusal === undefined ? options.addresses.start : undefined,
    successUrl: successUrl ?? options.addresses.done,
  };
  const { hasTls, requireHttps, tokenCheck } = arrival;
  const dependencies = {
    source,
    receiver,
    oauth,
    admission: { ...gateRules(config, store, clock, log), requireHttps },
    maskFor: services.maskFor,
    metrics: services.metrics,
    callbackLog: services.callbackLog,
    diagnoser: createDiagnoser({
      platform: createDiagnosis(
        builtInProtocol({ secrets: signing.secrets, named: services.diagnosisSecrets, tokens: token }),
      ),
      sources: services.diagnoses,
      clock,
      log,
      diagnosed: services.metrics.diagnosed,
    }),
    isEndpointCheck: services.endpointCheckProofs.accept,
    capture:
      buffer === null || tokenCheck === undefined ? null : { buffer, checkToken: captureAuthorization(tokenCheck) },
    onResponse: services.onResponse,
    onItem: services.onItem,
    tls: hasTls,
  };
  return { options, dependencies };
}

/** Callbacks as they came hold their credentials: an operator may have them, a viewer may not. */
function captureAuthorization({ check, recordRefusal }: TokenCheck): CaptureAccess["checkToken"] {
  return (token, address) => {
    const checked = check(token, address);
    if (checked.result !== "right" || checked.role === "operator") return checked;
    const attempt = { role: checked.role, action: "callbacks.listen", target: null };
    recordRefusal({ remoteAddress: address, actor: "token", reason: "the role is viewer", attempt });
    return { result: "not allowed" };
  };
}

function gateRules(config: Config, store: Store, clock: Clock, log: Log): Omit<AdmissionSettings, "requireHttps"> {
  const { limits } = config;
  const policy = (name: string, limit: Config["limits"]["default"]): Policy[] =>
    limit === null ? [] : [{ name, ...limit }];
  const everywhere = policy("default", limits.default);
  return {
    isAllowed: createAllowList(config.ipAllowList),
    limits: { everywhere, callbacks: [...everywhere, ...policy("callback", limits.callback)] },
    count:
      limits.store === "database"
        ? cacheExceeded(withFallback((key, windowMs, now) => store.rateCounters.hit(key, windowMs, now), clock, log))
        : createMemoryCounter(),
  };
}
