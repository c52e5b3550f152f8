import { refused } from "../../domain/index.ts";
import type { Scheme, SignedRequest } from "../schemes/scheme.ts";
import type { SourceDefinition } from "../source-definition.ts";
import { requiredTexts, type SecretOption } from "./given-secrets.ts";

/** What tells customers apart, where a platform signs the callbacks of all of them with one key. */
interface CustomerId<Options> {
  readonly option: keyof Options & string;
  /** Its name at the platform, such as `subscription_id`. */
  readonly name: string;
  /** From the signed bytes alone. */
  readonly idIn: (request: SignedRequest) => unknown;
  /** A signed question without an event, which may come before the id is known. */
  readonly isQuestion?: (request: SignedRequest) => boolean;
}

/** Binds a source to the customer's own ids; without them, the start says what is open. @throws TypeError for an unset one */
export function ofCustomer<Options extends object>(
  definition: SourceDefinition,
  options: Options,
  { option, name, idIn, isQuestion }: CustomerId<Options>,
): SourceDefinition {
  const { preset, facts } = definition;
  if (!Object.hasOwn(options, option)) return openToCustomers(definition, `set \`${option}\` to yours`);
  const ids = requiredTexts(preset, options[option] as SecretOption, option);
  function createScheme(environment: Parameters<SourceDefinition["createScheme"]>[0]): Scheme {
    const scheme = definition.createScheme(environment);
    return {
      ...scheme,
      async verify(request) {
        const result = await scheme.verify(request);
        if (!("verified" in result) || isQuestion?.(request)) return result;
        const id = idIn(request);
        if (typeof id === "string" && ids.includes(id)) return result;
        const detail = `\`${name}\`: none of \`${option}\`; ${facts.title} signs for all its customers with one key`;
        return refused("signature_mismatch", { detail });
      },
    };
  }
  return { ...definition, createScheme };
}

/** @param remedy such as ``set `subscriptionId` to yours`` */
export function openToCustomers(definition: SourceDefinition, remedy: string): SourceDefinition {
  const { title } = definition.facts;
  const open = `${title} signs for all its customers with one key, so that another one can send you its events: ${remedy}`;
  return { ...definition, open };
}
