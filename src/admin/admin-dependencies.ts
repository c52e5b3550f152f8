import type { Server } from "node:http";
import type { EventKey, OverviewRange, PayloadCondition } from "../domain/index.ts";
import type { CallbackLog, Mask, Metrics } from "../observability/index.ts";
import type { Receiver } from "../pipeline/index.ts";
import type {
  BackfillPreview,
  DryRunResult,
  dryRunHandled,
  HandledReplayResult,
  ReplayResult,
} from "../retry/index.ts";
import type { EventReplay, NewBackfill, Page, StoredCredentialUse, StoredTenantUses } from "../store/index.ts";
import type * as auth from "./access/authenticator.ts";
import type { AlertSettings } from "./alert-schemas.ts";
import type { ErasureView } from "./erasure-schema.ts";
import type * as views from "./page-schemas.ts";
import type { RelearnRequest, RelearnView } from "./schemas.ts";
import type { Installation } from "./settings/installation.ts";
import type { SourceDetailsView } from "./source-details-schema.ts";
import type { SourceHealthView } from "./source-health-schema.ts";
import type { SourceHistoryView } from "./source-history-schema.ts";

/** The sources: their endpoint URLs, secrets and checks. */
export interface Sources {
  secretUses(): Promise<readonly StoredCredentialUse[]>;
  list(): Promise<views.SourcesView>;
  /** Bounded by the counts that are kept, whatever the log holds. */
  health(): Promise<readonly SourceHealthView[]>;
  /** Its latency over time, from the counts that are kept, and its slowest callbacks, by a bounded look. */
  history(source: string, span: OverviewRange): Promise<SourceHistoryView | "absent">;
  details(source: string): Promise<SourceDetailsView | "absent">;
  /** When the secrets of a source's tenants were used; `absent` where there is no such source with tenants. */
  tenants(source: string, tenant: string | undefined, page: Page): Promise<readonly StoredTenantUses[] | "absent">;
  /** One check at a time. */
  check(source: string): Promise<views.EndpointCheckView | "absent" | "busy">;
  /** `fixed`: its platform chooses no secret. `unknown`: no secret of this fingerprint was sent. */
  relearn(source: string, request: RelearnRequest): Promise<RelearnView | "absent" | "fixed" | "unknown">;
}

/** 404: no such source. 409: the configuration does not allow it. 502: the public listener did not respond. */
export interface SandboxError {
  readonly status: 404 | 409 | 502;
  readonly error: string;
}

/** Test callbacks for developers, outside production. */
export interface Sandbox {
  /** The redirect address that the sandbox platform has registered. */
  readonly redirectUri: string;
  samples(): Promise<views.SandboxView>;
  send(sending: views.SandboxRequest): Promise<views.SandboxResultView | SandboxError>;
  /** A callback of a source other than `platform`. */
  sourceSample(source: string, type: string): Promise<views.SandboxSampleView | SandboxError>;
  sendAs(source: string, sending: views.SandboxSourceRequest): Promise<views.SandboxResultView | SandboxError>;
  runOAuthFlow(): Promise<views.SandboxFlowView | SandboxError>;
}

type AskedBackfill = Omit<NewBackfill, "perSecond" | "createdBy">;

/** Of the handlers that are configured. */
export interface Backfills {
  /** Why no handler can get a history by this name, and what to do. */
  problemOf(asked: AskedBackfill): string | undefined;
  /** Counts its events, and runs a sample that is rolled back. */
  preview(asked: AskedBackfill): Promise<BackfillPreview>;
}

export interface AdminDependencies
  extends Pick<Receiver, "store" | "clock" | "log" | "describeError" | "statementLog" | "registry" | "sourcesByName"> {
  readonly about: { readonly environment: string; readonly version: string };
  readonly metrics: Metrics;
  readonly callbackLog: CallbackLog;
  /** The configured channels of notifications, as deliveries are kept under them. */
  readonly channelNames: readonly string[];
  /** The host that a channel sends to; null where it is not configured, and for the log. */
  readonly channelHostOf: (channel: string) => string | null;
  readonly alertRules: AlertSettings;
  readonly replay: (key: EventKey) => Promise<ReplayResult>;
  readonly dryRun: (key: EventKey) => Promise<DryRunResult | "absent">;
  /** Runs a handled event again; its result replaces the one of its record. */
  readonly replayHandled: (key: EventKey, replaces: EventReplay) => Promise<HandledReplayResult>;
  readonly dryRunHandled: (key: EventKey) => ReturnType<typeof dryRunHandled>;
  readonly revoke: (userId: string, where: "everywhere" | "here") => Promise<boolean>;
  readonly discard: (key: EventKey) => Promise<"discarded" | "absent" | "leased">;
  /** Of events whose payload meets the condition; a dry run only counts. */
  readonly erase: (condition: PayloadCondition, isDryRun: boolean) => Promise<Omit<ErasureView, "dry_run">>;
  readonly backfills: Backfills;
  readonly mask: Mask;
  /** Stores this process's counts for the overview. */
  readonly flushRollups: () => Promise<void>;
  /** False while the process starts or drains, so that no new work is sent to it. */
  readonly isServing: () => boolean;
  readonly sources: Sources;
  readonly installation: Installation;
  /** Null in production, and in an application. */
  readonly sandbox: Sandbox | null;
}

/** Of the server, which has a listener, tokens and sessions for operators. */
export interface ListenerDependencies extends AdminDependencies {
  /** Bounds the connections of a server of this listener, and the requests over each. */
  readonly guard?: ((server: Server) => void) | undefined;
  readonly access: auth.AdminAccess;
  /** Shared with every other route that takes a token of the admin API. */
  readonly tokenCheck: auth.TokenCheck;
}

export interface RouteDependencies extends AdminDependencies {
  readonly access: auth.RequestAccess;
  readonly authenticator: auth.Authenticator;
  readonly recordRefusal: (refusal: auth.Refusal) => void;
  /** Says why a change from another origin is refused, and what to do. */
  readonly crossOriginError: string;
}

export interface SignInDependencies extends RouteDependencies, ListenerDependencies {
  readonly access: auth.AdminAccess;
  readonly authenticator: auth.SessionAuthenticator;
}
