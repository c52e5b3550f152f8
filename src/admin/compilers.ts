import ajvCompiler from "@fastify/ajv-compiler";
import type { FastifySchemaCompiler } from "fastify";

type Validate = ReturnType<FastifySchemaCompiler<unknown>>;

// A misspelt filter must not silently list everything.
const compile = ajvCompiler()({}, { customOptions: { removeAdditional: false } });

/**
 * A route's schemas are compiled when it is first asked for: all of them at the start would take as long as the rest of the admin
 * listener.
 */
export const compileLater: FastifySchemaCompiler<unknown> = ({ schema, ...route }) => {
  let compiled: Validate | undefined;
  const validate: Validate = (data) => {
    compiled ??= compile({ schema, ...route } as Parameters<typeof compile>[0]) as Validate;
    const isValid = compiled(data);
    // Where Fastify looks for them.
    validate.errors = compiled.errors ?? null;
    return isValid;
  };
  return validate;
};

/** The schemas of answers are for the API's description, and are never compiled. */
export const JSON_ALONE = { compilersFactory: { buildSerializer: () => () => JSON.stringify } };
