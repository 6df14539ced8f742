import { useEffect, useRef } from "react";
import { useShortcuts } from "../../../shell/shortcuts.ts";

/** Mod-s saves from wherever the cursor is, and closing the tab with unsaved changes is warned about. */
export function useSaveKeys(onSave: () => void, isDirty: boolean): void {
  const save = useRef(onSave);
  save.current = onSave;
  useShortcuts([{ keys: "Mod-s", does: "Save the agent", act: () => save.current() }]);
  useEffect(() => {
    if (!isDirty) return;
    const onLeave = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", onLeave);
    return () => window.removeEventListener("beforeunload", onLeave);
  }, [isDirty]);
}
