import { type CSSVariablesResolver, createTheme } from "@mantine/core";

/** Of Mantine's colours only these are used; each is readable on its own light ground in both schemes. */
const COLORS = ["blue", "green", "orange", "red", "gray", "violet"];

export const THEME = createTheme({
  primaryColor: "blue",
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: "md",
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  respectReducedMotion: true,
  cursorType: "pointer",
});

/** Mantine's own shades for quiet texts and badges fall short of a contrast of 4.5 to 1. */
export const readableColors: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "var(--mantine-color-gray-7)",
    "--mantine-color-placeholder": "var(--mantine-color-gray-7)",
    "--mantine-color-error": "var(--mantine-color-red-9)",
    ...each((color) => [`--mantine-color-${color}-light-color`, darker(color)]),
    ...each((color) => [`--mantine-color-${color}-text`, darker(color)]),
  },
  dark: {
    "--mantine-color-dimmed": "var(--mantine-color-dark-1)",
    "--mantine-color-placeholder": "var(--mantine-color-dark-1)",
    "--mantine-color-error": "var(--mantine-color-red-4)",
    ...each((color) => [`--mantine-color-${color}-light-color`, `var(--mantine-color-${color}-2)`]),
    ...each((color) => [`--mantine-color-${color}-text`, `var(--mantine-color-${color}-3)`]),
  },
});

function each(pair: (color: string) => [string, string]): Record<string, string> {
  return Object.fromEntries(COLORS.map(pair));
}

/** Orange and green are too light for texts even in Mantine's darkest shade. */
function darker(color: string): string {
  return `color-mix(in srgb, var(--mantine-color-${color}-9), black 30%)`;
}
