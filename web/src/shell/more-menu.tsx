import { Menu } from "@base-ui/react/menu";
import { Check, Command, Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { join } from "../ui/join.ts";
import { isWithin, PLACES } from "./places.ts";
import { chooseTheme, type ThemeChoice, useTheme } from "./theme.ts";
import { THEME_CHOICES, THEMES } from "./theme-choices.ts";

const ITEM = "flex h-10 w-full items-center gap-2.5 rounded-md px-2.5 text-sm data-[highlighted]:bg-hover";

/** On a phone: the screens that the bar has no room for, the theme, and the commands. */
export function MoreMenu({ onPalette }: { onPalette: () => void }) {
  const [path, go] = useLocation();
  const theme = useTheme();
  const places = PLACES.filter(({ isRare }) => isRare);
  const isHere = places.some((place) => isWithin(place, path));
  return (
    <Menu.Root>
      <Menu.Trigger
        className={join(
          "flex flex-col items-center gap-0.5 rounded-md px-2 py-1.5 text-2xs text-ink-2 hover:bg-hover hover:text-ink md:hidden",
          isHere && "bg-hover font-medium text-ink",
        )}
      >
        <Ellipsis aria-hidden className={join("size-4", isHere && "text-accent")} /> More
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner side="top" sideOffset={6} align="end" className="z-50">
          <Menu.Popup className="w-56 animate-arrive rounded-lg border border-line bg-panel p-1 shadow-float">
            {places.map((place) => (
              <Menu.Item key={place.path} onClick={() => go(place.path)} className={ITEM}>
                <place.icon aria-hidden className="size-4 text-ink-3" /> {place.name}
                {isWithin(place, path) && <Here>this screen</Here>}
              </Menu.Item>
            ))}
            <Menu.Item onClick={onPalette} className={ITEM}>
              <Command aria-hidden className="size-4 text-ink-3" /> Find anything
            </Menu.Item>
            <Menu.Separator className="my-1 h-px bg-line" />
            <Menu.RadioGroup value={theme} onValueChange={chooseTheme}>
              {THEME_CHOICES.map((one) => (
                <Menu.RadioItem key={one} value={one} className={ITEM}>
                  <ThemeName theme={one} />
                  {one === theme && <Check aria-hidden className="ml-auto size-4 text-accent" />}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function ThemeName({ theme }: { theme: ThemeChoice }) {
  const { name, icon: Icon } = THEMES[theme];
  return (
    <>
      <Icon aria-hidden className="size-4 text-ink-3" /> {name}
    </>
  );
}

function Here({ children }: { children: ReactNode }) {
  return (
    <>
      <span className="sr-only">, {children}</span>
      <Check aria-hidden className="ml-auto size-4 text-accent" />
    </>
  );
}
