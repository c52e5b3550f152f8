import { NumberInput } from "@mantine/core";

/** The API's own where none is chosen, and its bounds. */
export const USUAL_RATE = 10;
const [LEAST, MOST] = [1, 100];

interface Props {
  readonly value: number;
  readonly change: (perSecond: number) => void;
}

/** How many replays of a bulk begin in a second. */
export function RateInput({ value, change }: Props) {
  return (
    <NumberInput
      label="Max per second"
      min={LEAST}
      max={MOST}
      allowDecimal={false}
      value={value}
      onChange={(given) => change(Number(given))}
    />
  );
}
