import { Combobox, TextInput, useCombobox } from "@mantine/core";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { activitySearch } from "../pages/activity/activity-filters.ts";
import { parseQuery, queryText } from "../pages/activity/query-text.ts";
import { Icon } from "../parts/icon.tsx";
import { isTyping } from "../parts/is-typing.ts";
import { completed, useSuggestions } from "./suggestions.ts";

/** Finds callbacks from every page, by any value and filter. `/` and Ctrl-K or ⌘-K focus it. */
export function SearchBox() {
  const field = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();
  const shown = useShownQuery();
  const [text, setText] = useState(shown);
  useEffect(() => setText(shown), [shown]);
  const [isTyped, setTyped] = useState(false);
  const suggestions = useSuggestions(text, isTyped);
  const combobox = useCombobox({ opened: suggestions.length > 0, onOpenedChange: setTyped });
  useFocusOnShortcut(field);
  const type = (next: string) => {
    setText(next);
    setTyped(true);
    // The option that was selected is another one now, or gone.
    combobox.resetSelectedOption();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (text.trim() === "" && shown === "") return;
    field.current?.blur();
    void navigate({ to: "/activity", search: parseQuery(text, Date.now()) });
  };
  return (
    <search className="search">
      <form onSubmit={submit}>
        <Combobox
          store={combobox}
          position="bottom-start"
          withinPortal={false}
          onOptionSubmit={(value) => {
            const chosen = suggestions.find((one) => one.text === value);
            if (chosen !== undefined) type(completed(text, chosen));
          }}
        >
          <Combobox.Target withExpandedAttribute>
            <TextInput
              ref={field}
              type="search"
              aria-label="Search"
              placeholder="Order, e-mail, event id, or source:stripe outcome:failed"
              leftSection={<Icon name="search" />}
              rightSection={<kbd>/</kbd>}
              value={text}
              onChange={({ currentTarget }) => type(currentTarget.value)}
              onFocus={() => setTyped(true)}
              onBlur={() => setTyped(false)}
              autoComplete="off"
              spellCheck={false}
            />
          </Combobox.Target>
          <Combobox.Dropdown>
            <Combobox.Options aria-label="Completions" mah={320} className="completions">
              {suggestions.map(({ text: suggestion, meaning }) => (
                <Combobox.Option key={suggestion} value={suggestion}>
                  {suggestion} <span className="quiet">{meaning}</span>
                </Combobox.Option>
              ))}
            </Combobox.Options>
          </Combobox.Dropdown>
        </Combobox>
      </form>
    </search>
  );
}

/** The filters and values of the list of Activity; empty on other pages. */
function useShownQuery(): string {
  return useLocation({
    select: ({ pathname, search }) => (pathname === "/activity" ? queryText(activitySearch(search)) : ""),
  });
}

function useFocusOnShortcut(field: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const focusOnShortcut = (event: KeyboardEvent) => {
      const isCommand = event.key === "k" && (event.ctrlKey || event.metaKey);
      if (!isCommand && (event.key !== "/" || isTyping(event.target))) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    window.addEventListener("keydown", focusOnShortcut);
    return () => window.removeEventListener("keydown", focusOnShortcut);
  }, [field]);
}
