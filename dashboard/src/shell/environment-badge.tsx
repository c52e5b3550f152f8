/** Which environment this is; production stands out. */
export function EnvironmentBadge({ environment }: { readonly environment: string | null }) {
  if (environment === null) return null;
  return (
    <span className="environment" data-environment={environment}>
      {environment}
    </span>
  );
}
