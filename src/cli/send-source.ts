import type { JsonObject } from "../domain/index.ts";
import { SampleError, signSample } from "../sources/index.ts";
import type { LoadedConfiguration } from "./load-configuration.ts";
import { UsageError, UserError } from "./user-error.ts";

export interface SourceSample {
  readonly source: string;
  readonly type: string;
  readonly id: string | undefined;
  readonly data: JsonObject | undefined;
  /** The event's time, where it is not the current one. */
  readonly time: Date | undefined;
  readonly url: string | undefined;
}

/** A callback of one of the configured sources, signed as its platform signs. @throws UserError */
export async function sourceCallback({ config }: LoadedConfiguration, wanted: SourceSample) {
  const { configuredSources, sourceUrl } = await import("../app/index.ts");
  const sources = await configuredSources(config);
  const source = sources.find(({ name }) => name === wanted.source);
  if (source === undefined)
    throw unknownSource(
      wanted.source,
      sources.map(({ name }) => name),
    );
  const { type, id, data, time } = wanted;
  const address = new URL(wanted.url ?? sourceUrl(source, config.baseUrl));
  const { origin } = new URL(config.baseUrl);
  try {
    const { headers, body, event } = signSample(source.definition, {
      ...{ source: source.name, type, id, data, origin, url: address, now: new Date() },
      ...(time !== undefined && { time }),
    });
    return { address: address.href, headers, body: Buffer.from(body).toString(), event };
  } catch (cause) {
    if (!(cause instanceof SampleError)) throw cause;
    throw new UserError(cause.message, { cause });
  }
}

function unknownSource(name: string, known: readonly string[]): UsageError {
  const others =
    known.length === 0
      ? "none is configured beside the platform; oncehook sources add <preset> adds one"
      : `there are ${known.join(", ")}`;
  return new UsageError(`--source: got ${JSON.stringify(name)}, which is no source here; ${others}`);
}
