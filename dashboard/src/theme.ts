import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

/** The accent: links, the selected place, the focus and the first action of a page. Nothing else is coloured so. */
const ACCENT: MantineColorsTuple = [
  "#eef0ff",
  "#dfe2ff",
  "#bdc3fb",
  "#a0a8f8",
  "#8790f4",
  "#6c76ef",
  "#5a63e6",
  "#4b53d4",
  "#3f46bd",
  "#333a9f",
];

/** Red with white text on it, as on a button that deletes, has a contrast of 6 to 1. */
const RED: MantineColorsTuple = [
  "#fdeceb",
  "#fbd5d2",
  "#f5aaa5",
  "#ee7f78",
  "#e65a51",
  "#dc4238",
  "#c92f26",
  "#b3261e",
  "#981f19",
  "#7d1914",
];

/** Greys of the dark scheme: a cool black that leaves room for three levels above it. */
const DARK: MantineColorsTuple = [
  "#e6e8ec",
  "#a9afba",
  "#8a919e",
  "#5d6470",
  "#363c46",
  "#2a2f38",
  "#1b1f26",
  "#101318",
  "#0c0e12",
  "#08090c",
];

/** Red is ours, orange the sender's, green a success; the rest is grey. */
const COLORS = ["accent", "blue", "green", "orange", "red", "gray", "violet"];

export const THEME = createTheme({
  colors: { accent: ACCENT, dark: DARK, red: RED },
  primaryColor: "accent",
  primaryShade: { light: 7, dark: 7 },
  defaultRadius: 6,
  fontFamily: "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, 'SF Mono', Menlo, Consolas, monospace",
  // Text of 13 pixels, headings of 14 and 16, on a grid of 4.
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.8125rem", lg: "0.875rem", xl: "1rem" },
  lineHeights: { xs: "1rem", sm: "1.25rem", md: "1.25rem", lg: "1.25rem", xl: "1.5rem" },
  spacing: { xs: "0.25rem", sm: "0.5rem", md: "0.75rem", lg: "1rem", xl: "1.5rem" },
  headings: {
    fontWeight: "600",
    sizes: {
      h1: { fontSize: "1rem", lineHeight: "1.5rem" },
      h2: { fontSize: "0.875rem", lineHeight: "1.25rem" },
      h3: { fontSize: "0.8125rem", lineHeight: "1.25rem" },
    },
  },
  components: {
    Badge: { defaultProps: { fw: 500 } },
    Button: { defaultProps: { size: "compact-md", fw: 500 } },
    TextInput: { defaultProps: { size: "xs" } },
    NativeSelect: { defaultProps: { size: "xs" } },
    NumberInput: { defaultProps: { size: "xs" } },
    PasswordInput: { defaultProps: { size: "xs" } },
    SegmentedControl: { defaultProps: { size: "xs", withItemsBorders: false } },
    Textarea: { defaultProps: { size: "sm" } },
  },
  respectReducedMotion: true,
  cursorType: "pointer",
});

/** Both schemes are chosen, not inverted. Every text on every ground has a contrast of 4.5 to 1 or more. */
const LIGHT_SCHEME = {
  "--mantine-color-body": "#ffffff",
  "--mantine-color-text": "#1a1d24",
  "--mantine-color-dimmed": "#5b616d",
  "--mantine-color-placeholder": "#656b77",
  "--mantine-color-error": "#b3261e",
  "--mantine-color-anchor": "#3f46bd",
  "--mantine-color-default-border": "#d9dce2",
  "--mantine-color-default-hover": "#f5f6f8",
  "--surface": "#f8f9fb",
  "--raised": "#ffffff",
  "--line": "#e8eaee",
  "--selected": "#eef0ff",
  "--accent": "#4b53d4",
  "--failed": "#b3261e",
  "--failed-soft": "#fdeceb",
  "--mantine-color-red-light": "#fdeceb",
  "--failed-area": "#c92f26",
  "--refused": "#994700",
  "--refused-area": "#e08a1e",
  "--refused-soft": "#fff2e2",
  "--duplicate-area": "#4d535e",
  "--ignored-area": "#8a919e",
  "--success": "#15703f",
  "--success-soft": "#e5f5ec",
  "--mark": "#ffe9a8",
  "--shadow": "0 0 0 1px rgb(16 24 40 / 0.06), -8px 0 32px rgb(16 24 40 / 0.10)",
  ...each((color) => [`--mantine-color-${color}-light-color`, darker(color)]),
  ...each((color) => [`--mantine-color-${color}-text`, darker(color)]),
};

const DARK_SCHEME = {
  "--mantine-color-body": "#101318",
  "--mantine-color-text": "#e6e8ec",
  "--mantine-color-dimmed": "#a0a7b3",
  "--mantine-color-placeholder": "#8f96a3",
  "--mantine-color-error": "#ff8a80",
  "--mantine-color-anchor": "#a9b0ff",
  "--mantine-color-default": "#171b21",
  "--mantine-color-default-border": "#2f353f",
  "--mantine-color-default-hover": "#1b2027",
  "--surface": "#14181e",
  "--raised": "#171b21",
  "--line": "#232831",
  "--selected": "#20244a",
  "--accent": "#8b93ff",
  "--failed": "#ff8a80",
  "--failed-soft": "#3a1b1d",
  "--mantine-color-red-light": "#3a1b1d",
  "--failed-area": "#f2635a",
  "--refused": "#f3aa66",
  "--refused-area": "#f5b041",
  "--refused-soft": "#352311",
  "--duplicate-area": "#b4bac5",
  "--ignored-area": "#646b78",
  "--success": "#5fd096",
  "--success-soft": "#12291f",
  "--mark": "#5c4a12",
  "--shadow": "0 0 0 1px #2a2f38, -12px 0 40px rgb(0 0 0 / 0.5)",
  ...each((color) => [`--mantine-color-${color}-light-color`, `var(--mantine-color-${color}-2)`]),
  ...each((color) => [`--mantine-color-${color}-text`, `var(--mantine-color-${color}-3)`]),
};

export const readableColors: CSSVariablesResolver = () => ({
  variables: {},
  light: LIGHT_SCHEME,
  dark: DARK_SCHEME,
});

function each(pair: (color: string) => [string, string]): Record<string, string> {
  return Object.fromEntries(COLORS.map(pair));
}

/** Orange and green are too light for texts even in Mantine's darkest shade. */
function darker(color: string): string {
  return `color-mix(in srgb, var(--mantine-color-${color}-9), black 30%)`;
}
