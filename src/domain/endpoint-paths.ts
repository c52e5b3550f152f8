import { PLATFORM, type Version } from "./event.ts";

interface CallbackPath {
  readonly source: string;
  readonly path: string;
  readonly version: Version | "by_header";
}

/** A source other than `platform`, and the path that was chosen for it. */
type SourcePath = Pick<CallbackPath, "source"> & { readonly path?: string | undefined };

/** The addresses that platforms call (SPEC 4), below the base path of `CALLBACK_BASE_URL`. */
export interface EndpointPaths {
  readonly callbacks: readonly CallbackPath[];
  readonly redirect: string;
  /** Absent where the platform has no address at which a flow could start. */
  readonly start?: string;
  readonly done: string;
  /** `oncehook listen` gets the captured callbacks here; served only with CAPTURE=on. */
  readonly capture: string;
}

export function endpointPaths(
  basePath: string,
  oauthScopePath: string,
  options: { startsFlows?: boolean; servesPlatform?: boolean; sources?: readonly SourcePath[] } = {},
): EndpointPaths {
  const { startsFlows = true, servesPlatform = true, sources = [] } = options;
  const oauth = `${basePath}/api/${oauthScopePath}/oauth-`;
  const served: readonly SourcePath[] = servesPlatform ? [{ source: PLATFORM }, ...sources] : sources;
  return {
    callbacks: served.flatMap((one) => callbackPaths(basePath, one)),
    redirect: `${oauth}callback`,
    done: `${oauth}done`,
    capture: `${basePath}/_oncehook/captured`,
    ...(startsFlows ? { start: `${oauth}start` } : {}),
  };
}

function callbackPaths(basePath: string, { source, path }: SourcePath): CallbackPath[] {
  if (path !== undefined) return [{ source, path: `${basePath}${path}`, version: "by_header" }];
  return [
    { source, path: `${basePath}/api/${source}/callback`, version: "by_header" },
    { source, path: `${basePath}/api/v1/${source}/callback`, version: "v1" },
    { source, path: `${basePath}/api/v2/${source}/callback`, version: "v2" },
  ];
}

/** Whether parts of a path stand for texts of the request, as in `/hooks/:shop`. */
export const hasParameters = (path: string | undefined): boolean => path?.includes("/:") === true;

/** Whether a request could be for both: a part such as `:shop` stands for any one part. */
export function pathsOverlap(one: string, other: string): boolean {
  const [parts, otherParts] = [one.split("/"), other.split("/")];
  if (parts.length !== otherParts.length) return false;
  return parts.every((part, index) => {
    const otherPart = otherParts[index] ?? "";
    return part === otherPart || part.startsWith(":") || otherPart.startsWith(":");
  });
}
