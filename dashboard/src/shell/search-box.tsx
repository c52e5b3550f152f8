import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef } from "react";
import { Icon } from "../parts/icon.tsx";
import { isTyping } from "../parts/is-typing.ts";
import { parseQuery } from "./query.ts";

/** Finds callbacks from every page. `/` and Ctrl-K or ⌘-K focus it. */
export function SearchBox() {
  const field = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();
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
  }, []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? "";
    if (text === "") return;
    field.current?.blur();
    void navigate({ to: "/activity", search: parseQuery(text, new Date()) });
  };
  return (
    <search className="search">
      <form onSubmit={submit}>
        <TextInput
          ref={field}
          type="search"
          aria-label="Search"
          placeholder="Event id, order, e-mail, or source:stripe outcome:handler_failed"
          leftSection={<Icon name="search" />}
          rightSection={<kbd>/</kbd>}
          autoComplete="off"
          spellCheck={false}
        />
      </form>
    </search>
  );
}
