import { History } from "lucide-react";
import { useShortcuts } from "../../../shell/shortcuts.ts";
import { Button } from "../../../ui/button.tsx";
import { useIsReplayed, useReplay } from "./replay-scope.tsx";

/** The id of the button: the focus goes from it to the playhead, and back. */
export const REPLAY_ID = "replay";

/** How a button looks while what it names is on. */
export const PRESSED = "aria-pressed:border-accent/50 aria-pressed:bg-accent-soft aria-pressed:text-accent";

/** Opens the replay, and leaves it. */
export function ReplayToggle() {
  const { begin, leave } = useReplay();
  const isOn = useIsReplayed();
  const act = isOn ? leave : begin;
  useShortcuts([{ keys: "r", does: "Replay the session, and back to now", act }]);
  return (
    <Button id={REPLAY_ID} aria-pressed={isOn} onClick={act} title="Replay" className={PRESSED}>
      <History aria-hidden className="size-3.5" /> <span className="max-md:sr-only">Replay</span>
    </Button>
  );
}
