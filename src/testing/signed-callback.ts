import { randomUUID } from "node:crypto";
import type { ConfigFile } from "../config/index.ts";
import { type ConfiguredSource, sourceUrl } from "../configured/index.ts";
import type { JsonObject } from "../domain/index.ts";
import { signedAs, signSample } from "../sources/index.ts";

/** A callback of one of the `sources`, as a test gives it; the sample gives the rest. */
export interface TestCallback {
  /** The source's name. */
  readonly source: string;
  readonly type: string;
  /** The handler's `data`, over the sample of the platform's shape. */
  readonly data?: object;
  /** The event's id, as the platform would send it. */
  readonly id?: string;
  /** Seconds since the Unix epoch; the present time when left out. */
  readonly timestamp?: number;
}

/** The options of `fetch`, with the path of the source's address. */
export interface SignedCallback {
  /** Below the path of `baseUrl`; a parameter stands for itself. */
  readonly path: string;
  readonly method: "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer<ArrayBuffer>;
  /** The event as it was sent: a callback with its id is a redelivery. */
  readonly event: Required<TestCallback>;
}

export interface SigningOptions {
  /** As in the options of `createReceiver`: some platforms sign it. */
  readonly baseUrl?: string;
  /** Signs with another secret than the platform's, as a forger would. */
  readonly isForged?: boolean;
}

/**
 * A callback in a platform's shape, signed as the platform signs, for an application's own server:
 * `fetch(origin + callback.path, callback)`.
 * @param config what `createReceiver` got
 * @throws TypeError for a source that `config` does not have, SampleError where only the platform can make such a callback
 */
export function signedCallback(
  { sources = {} }: Pick<ConfigFile, "sources">,
  callback: TestCallback,
  { baseUrl = "http://127.0.0.1", isForged = false }: SigningOptions = {},
): SignedCallback {
  const named = Object.entries(sources).map(([name, definition]) => ({ name, definition }));
  const source = sourceNamed(named, callback.source);
  const now = new Date();
  return signCallback(callback, { source, baseUrl: baseUrl.replace(/(?<!\/)\/+$/, ""), isForged, now });
}

interface Signing {
  readonly source: ConfiguredSource;
  readonly baseUrl: string;
  /** Of the address that the platform has registered; that of `baseUrl` when left out. */
  readonly origin?: string;
  readonly isForged: boolean;
  readonly now: Date;
  readonly headers?: Readonly<Record<string, string>>;
  readonly raw?: Uint8Array | undefined;
}

export function signCallback(callback: TestCallback, signing: Signing): SignedCallback {
  const { source, baseUrl, isForged, now, headers = {}, raw } = signing;
  const id = `evt_${randomUUID().replaceAll("-", "")}`;
  const event = { id, timestamp: Math.floor(now.getTime() / 1_000), data: {}, ...callback };
  const url = new URL(sourceUrl(source, baseUrl));
  const signed = signSample(signedAs(source.definition, isForged ? "wrong" : "right"), {
    ...{ source: event.source, type: event.type, id: event.id, data: event.data as JsonObject },
    time: new Date(event.timestamp * 1_000),
    ...{ now, url, origin: signing.origin ?? url.origin, headers, raw },
  });
  return { path: url.pathname, method: "POST", headers: signed.headers, body: Buffer.from(signed.body), event };
}

/** @throws TypeError */
export function sourceNamed(sources: readonly ConfiguredSource[], name: string): ConfiguredSource {
  const source = sources.find((one) => one.name === name);
  if (source !== undefined) return source;
  const known = sources.length === 0 ? "none is given in `sources`" : sources.map((one) => one.name).join(", ");
  throw new TypeError(`there is no source ${JSON.stringify(name)}: ${known}`);
}
