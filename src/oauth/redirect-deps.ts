import type { SparingLog } from "../domain/index.ts";
import type { Receiver, Source } from "../receive/index.ts";
import type { Platform } from "./platform.ts";

export interface RedirectDeps {
  readonly receiver: Receiver;
  /** The platform, whose signature or token is one of the two ways to authenticate a redirect. */
  readonly source: Source;
  /** The authorization server. */
  readonly platform: () => Platform;
  /** Of the flows that are started here. */
  readonly redirectUri: string;
  /** For what anybody who starts a flow can bring about. */
  readonly sparing: SparingLog;
}
