/** The same of sources and the sandbox. */
export interface SourcesView {
  readonly items: readonly SourceView[];
  readonly oauth: { readonly redirect_uri: string; readonly start_url: string | null } | null;
  readonly handlers: readonly HandlerView[];
}

export interface SourceView {
  readonly source: string;
  readonly addresses: readonly {
    readonly url: string;
    /** `by_header`, `v1` or `v2`. */
    readonly version: string;
    readonly method: string;
    readonly event_types: readonly string[];
  }[];
  readonly authenticated_by: string;
  readonly authentication: readonly {
    readonly method: string;
    readonly header: string;
    readonly secrets: readonly {
      readonly name: string;
      readonly is_previous: boolean;
      readonly last_used_at: string | null;
      readonly advice: string | null;
    }[];
  }[];
}

export interface HandlerView {
  readonly event_type: string;
  readonly versions: readonly string[];
  readonly has_prepare: boolean;
  readonly time_limit_ms: number;
}

export interface ReachedAddress {
  readonly url: string;
  readonly reached: boolean;
  readonly says: string;
  readonly warning: string | null;
  readonly took_ms: number;
  readonly status: number | null;
}

export interface ReachView extends ReachedAddress {
  readonly addresses: readonly ReachedAddress[];
}

export interface SandboxEvent {
  readonly event_type: string;
  readonly version: string;
  readonly sample: object;
}

export interface SandboxSending {
  readonly body: string;
  readonly path?: string;
  readonly version?: string;
  readonly sign: "right" | "wrong" | "none";
}

export interface SandboxExchangeView {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  readonly took_ms: number;
}

export interface SandboxFlowView {
  readonly signed_in: boolean;
  readonly steps: readonly {
    readonly method: string;
    readonly url: string;
    readonly status: number;
    readonly says: string;
    readonly body: string;
    readonly took_ms: number;
  }[];
}
