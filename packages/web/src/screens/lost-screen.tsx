import { MapPinOff } from "lucide-react";
import { useTabTitle } from "../frame/places.ts";
import { TextLink } from "../ui/controls.tsx";
import { ScreenHead } from "../ui/screen-head.tsx";
import { Empty } from "../ui/states.tsx";

/** An address that leads nowhere. */
export default function LostScreen() {
  useTabTitle("Not found");
  return (
    <>
      <ScreenHead title="Nothing here" />
      <Empty icon={MapPinOff} title="This address leads nowhere">
        <TextLink href="/">Go to the chat</TextLink>
      </Empty>
    </>
  );
}
