import { NativeSelect, useMantineColorScheme } from "@mantine/core";

const SCHEMES = [
  { value: "auto", label: "As the system" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const;

export function SchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <NativeSelect
      size="xs"
      aria-label="Colours"
      data={SCHEMES}
      value={colorScheme}
      onChange={({ currentTarget }) => {
        const chosen = SCHEMES.find(({ value }) => value === currentTarget.value);
        if (chosen !== undefined) setColorScheme(chosen.value);
      }}
    />
  );
}
