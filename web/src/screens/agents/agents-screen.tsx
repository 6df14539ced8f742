import { ScreenHead } from "../../ui/screen-head.tsx";

/** Not there yet. */
export default function AgentsScreen() {
  return <ScreenHead title="Agents" />;
}
