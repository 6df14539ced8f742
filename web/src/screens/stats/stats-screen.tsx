import { ScreenHead } from "../../ui/screen-head.tsx";

/** Not there yet. */
export default function StatsScreen() {
  return <ScreenHead title="Stats" />;
}
