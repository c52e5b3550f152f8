/** What a look at a database found; nothing is changed by it. */
export type Inspection =
  /** The database, or this service's tables in it, do not exist yet; the first start makes them. */
  | { readonly exists: false }
  | {
      readonly exists: true;
      readonly schema: number;
      readonly environment: string | undefined;
      readonly baseUrl: string | undefined;
      readonly durabilityWarnings: readonly string[];
    };
