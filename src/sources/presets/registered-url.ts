import type { SignedRequest } from "../request.ts";
import type { SourceDefinition } from "../source-definition.ts";

/** The request as its platform has sent it, before a proxy mapped its path. */
export function asSentTo<Request extends Pick<SignedRequest, "target">>(url: string, request: Request): Request {
  const { target } = request;
  const query = target.indexOf("?");
  return { ...request, target: new URL(url).pathname + (query === -1 ? "" : target.slice(query)) };
}

/** A source whose `url` its platform has registered: what the platform signs is about that address. */
export function atRegisteredUrl(definition: SourceDefinition): SourceDefinition {
  const { createScheme, createContract, sign, settings } = definition;
  const { url } = settings;
  if (url === undefined) return definition;
  const origin = () => new URL(url).origin;
  return {
    ...definition,
    createScheme(environment) {
      const scheme = createScheme({ ...environment, origin });
      return {
        challenge: scheme.challenge,
        ...(scheme.isCostly && { isCostly: true }),
        verify: (request) => scheme.verify(asSentTo(url, request)),
      };
    },
    createContract(environment) {
      const contract = createContract({ ...environment, origin });
      const { challenge } = contract;
      return {
        ...contract,
        read: (request, signedText) => contract.read(asSentTo(url, request), signedText),
        ...(challenge !== undefined && { challenge: (request) => challenge(asSentTo(url, request)) }),
      };
    },
    ...(sign !== undefined && {
      sign: ({ target = "", ...request }) => sign({ ...asSentTo(url, { ...request, target }), origin: origin() }),
    }),
  };
}
