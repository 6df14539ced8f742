import { ScreenHead } from "../../ui/screen-head.tsx";

/** Not there yet. */
export default function RunsScreen() {
  return <ScreenHead title="Runs" />;
}
