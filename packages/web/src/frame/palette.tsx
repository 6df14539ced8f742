import { Dialog } from "@base-ui/react/dialog";
import type { SessionList } from "@retinue/core/schema/api/session";
import { Bot, CornerDownLeft, GitBranch, type LucideIcon, SearchX } from "lucide-react";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { encodePart } from "../data/client.ts";
import { useAgents, useFetched } from "../data/queries.ts";
import { join } from "../ui/class-names.ts";
import { createFilter } from "../ui/create-filter.ts";
import { findLook } from "../ui/status.tsx";
import { PLACES } from "./places.ts";
import { chooseTheme, THEME_CHOICES, THEMES } from "./theme.ts";

type Choice = {
  id: string;
  name: string;
  about: string;
  icon: LucideIcon;
  act: () => void;
};

const MOST = 12;

/** Finds screens, sessions and agents by a few letters. */
export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  const from = useRef("");
  if (open && from.current === "") from.current = location.pathname;
  // What had the focus before is gone if the choice led to another screen.
  const focusOnClose = () => {
    const isHere = from.current === location.pathname;
    from.current = "";
    return isHere || document.getElementById("screen");
  };
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup
          aria-label="Commands"
          finalFocus={focusOnClose}
          className="fixed top-[14vh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 animate-arrive overflow-hidden rounded-xl border border-line bg-panel shadow-float"
        >
          {open && <Finder onClose={onClose} />}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Finder({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const listed = useRef<HTMLDivElement>(null);
  const all = useChoices();
  const found = useMemo(() => matching(all, text), [all, text]);
  const chosen = found[Math.min(at, found.length - 1)];
  useEffect(() => {
    listed.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  });
  const take = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    choice.act();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt(
        (before) => (Math.min(before, found.length - 1) + step + found.length) % Math.max(1, found.length),
      );
    } else if (event.key === "Enter") take(chosen);
  };
  return (
    <>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-choices"
        aria-activedescendant={chosen && `choice-${chosen.id}`}
        aria-label="Find a screen, session or agent"
        placeholder="Find a screen, session or agent…"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        className="h-12 w-full border-b border-line focus:border-accent bg-transparent px-4 text-base outline-none"
      />
      <div
        ref={listed}
        id="palette-choices"
        role="listbox"
        aria-label="Choices"
        className="max-h-80 overflow-auto p-1"
      >
        {found.map((choice) => (
          <ChoiceRow
            key={choice.id}
            choice={choice}
            isChosen={choice === chosen}
            onTake={() => take(choice)}
          />
        ))}
      </div>
      {found.length === 0 && (
        <p className="flex items-center gap-2 px-4 pb-4 text-sm text-ink-3">
          <SearchX aria-hidden className="size-4" /> No matches.
        </p>
      )}
    </>
  );
}

function ChoiceRow({ choice, isChosen, onTake }: { choice: Choice; isChosen: boolean; onTake: () => void }) {
  const { id, icon: Icon, name, about } = choice;
  return (
    <button
      type="button"
      tabIndex={-1}
      id={`choice-${id}`}
      role="option"
      aria-selected={isChosen}
      onClick={onTake}
      className={join(
        "flex h-9 w-full items-center gap-2.5 rounded-md px-3 text-left text-sm",
        isChosen ? "bg-accent-soft" : "hover:bg-hover",
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0 text-ink-3" />
      <span className="truncate">{name}</span>
      <span className="ml-auto shrink-0 truncate pl-3 text-xs text-ink-3">{about}</span>
      {isChosen && <CornerDownLeft aria-hidden className="size-3.5 shrink-0 text-ink-3" />}
    </button>
  );
}

function useChoices(): Choice[] {
  const [, go] = useLocation();
  const { data: agents } = useAgents();
  const { data: sessions } = useFetched<SessionList>(["sessions", "palette"], "/api/sessions?limit=100");
  return useMemo(
    () => [
      ...PLACES.map(({ path, name, icon, keys }) => ({
        id: path,
        name,
        about: keys,
        icon,
        act: () => go(path),
      })),
      ...THEME_CHOICES.map((theme) => ({
        ...THEMES[theme],
        id: theme,
        about: "theme",
        act: () => chooseTheme(theme),
      })),
      ...(sessions?.sessions ?? []).map(({ session_id: id, title, state }) => ({
        id,
        name: title || id,
        about: findLook(state).word,
        icon: GitBranch,
        act: () => go(`/chat/${id}`),
      })),
      ...(agents?.agents ?? [])
        .filter(({ state }) => state === "enabled")
        .map(({ name, displayName }) => ({
          id: `agent-${name}`,
          name: displayName,
          about: "agent",
          icon: Bot,
          act: () => go(`/agents/${encodePart(name)}`),
        })),
    ],
    [agents, sessions, go],
  );
}

/** Those that have every word, the ones that begin with it first. */
function matching(choices: readonly Choice[], text: string): Choice[] {
  const fits = createFilter(text);
  const [first = ""] = text.trim().toLowerCase().split(/\s+/);
  const rank = ({ name }: Choice) => (name.toLowerCase().startsWith(first) ? 0 : 1);
  return choices
    .filter(({ name, about, id }) => fits(name, about, id))
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, MOST);
}
