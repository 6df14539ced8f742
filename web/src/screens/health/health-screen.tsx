import { ScreenHead } from "../../ui/screen-head.tsx";

/** Not there yet. */
export default function HealthScreen() {
  return <ScreenHead title="Health" />;
}
