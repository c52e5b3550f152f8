import "./facts.css";
import type { ReactNode } from "react";

interface Props {
  readonly of: readonly (readonly [name: string, value: ReactNode])[];
  /** Names of a few words: on a telephone, too, each stands beside its value. */
  readonly isShort?: boolean;
}

/** Names and their values; names without a value are left out. */
export function Facts({ of, isShort = false }: Props) {
  const facts = of.filter(([, value]) => value !== null && value !== undefined);
  return (
    <dl className={isShort ? "facts short" : "facts"}>
      {facts.map(([name, value]) => (
        <div key={name} className="fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
