/** The settings of a node-postgres pool that decide which database it reaches, and how. */
export interface PoolSettings {
  /** Its parts come before the other settings, as node-postgres has it. */
  readonly connectionString?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | string | undefined;
  readonly user?: string | undefined;
  readonly database?: string | undefined;
  /** A function is called for each new connection. */
  readonly password?: string | (() => string | Promise<string>) | undefined;
  /** As `tls.connect` takes it; `true` verifies the certificate against the public authorities. */
  readonly ssl?: boolean | string | object | undefined;
  readonly sslnegotiation?: string | undefined;
  /** Parameters of the session, as in `PGOPTIONS`. */
  readonly options?: string | undefined;
  readonly enableChannelBinding?: boolean | undefined;
  /** Makes the socket, such as one of a cloud's connector. */
  readonly stream?: unknown;
}

/** The settings of a pool, or a pool of node-postgres. Of the pool, of any version or copy, only its settings are read. */
export type DatabaseSettings = PoolSettings | { readonly options: PoolSettings };

/** Settings with a password: neither a log nor a copy of the object around them shows them. */
export class ConnectionSettings {
  readonly #settings: PoolSettings;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
  }

  get settings(): PoolSettings {
    return this.#settings;
  }
}

/** How a PostgreSQL is reached: an address, or the settings of an application's pool. */
export type Connection = string | ConnectionSettings;
