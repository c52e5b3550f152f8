/** Of an OpenAPI description only what this page shows. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

export interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses?: Readonly<Record<string, Content & { readonly description?: string }>>;
}

export interface Description {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export interface Listed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function operationsOf({ paths }: Description): readonly Listed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

export function schemaOf({ content = {} }: Content): Schema | undefined {
  return Object.values(content)[0]?.schema;
}

/** The name under which the description has a shape. */
export function nameOf(ref: string): string {
  return decodeURIComponent(ref.slice(ref.lastIndexOf("/") + 1));
}

/** A type in a few words, such as "text or null", "list of Callback". */
export function wordsFor(schema: Schema | undefined): string {
  if (schema === undefined) return "anything";
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.anyOf !== undefined) return schema.anyOf.map(wordsFor).join(" or ");
  if (schema.items !== undefined) return `list of ${wordsFor(schema.items)}`;
  const types = [schema.type ?? "object"].flat().join(" or ");
  return schema.format === undefined ? types : `${types} (${schema.format})`;
}
