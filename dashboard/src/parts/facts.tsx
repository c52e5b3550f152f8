import "./facts.css";
import type { ReactNode } from "react";

/** Names and their values; names without a value are left out. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ReactNode])[] }) {
  const facts = of.filter(([, value]) => value !== null && value !== undefined);
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name} className="fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
