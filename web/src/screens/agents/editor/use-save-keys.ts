import { useEffect, useRef } from "react";
import { useShortcuts } from "../../../shell/shortcuts.ts";

/** Mod-s saves from wherever the cursor is, and closing the tab with unsaved changes is warned about. */
export function useSaveKeys(onSave: () => void, isDirty: boolean): void {
  const save = useRef(onSave);
  save.current = onSave;
  useShortcuts([{ keys: "Mod-s", does: "Save the agent", act: () => save.current() }]);
  useEffect(() => {
    // The page's shortcuts leave keys alone that are typed into a field; this one is meant there too.
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.key.toLowerCase() !== "s") return;
      if (!(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      save.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    if (!isDirty) return;
    const onLeave = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", onLeave);
    return () => window.removeEventListener("beforeunload", onLeave);
  }, [isDirty]);
}
