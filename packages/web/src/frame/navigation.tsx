import { Menu } from "@base-ui/react/menu";
import { Check, Command, Ellipsis } from "lucide-react";
import { Link, useLocation } from "wouter";
import { useNews } from "../data/news.ts";
import { useAbout } from "../data/queries.ts";
import { join } from "../ui/class-names.ts";
import { Button, KeyHint, MOD, TipButton } from "../ui/controls.tsx";
import { type AppPlace, isInPlace, PLACES } from "./places.ts";
import { chooseTheme, THEME_CHOICES, THEMES, useTheme } from "./theme.ts";

/** The way between screens: at the side on wide pages, at the bottom on a phone. */
export function Navigation({ onPalette }: { onPalette: () => void }) {
  const { data: about } = useAbout();
  return (
    <nav
      aria-label="Main"
      className="order-last flex shrink-0 border-line bg-panel max-md:justify-around max-md:border-t max-md:pb-[env(safe-area-inset-bottom)] md:order-first md:w-52 md:flex-col md:gap-0.5 md:border-r md:p-2"
    >
      <div className="hidden items-center gap-2 px-2 pt-1 pb-3 md:flex">
        <img src="/icon.svg" alt="" className="size-6" />
        <div className="min-w-0">
          <p className="text-sm leading-4 font-semibold">Retinue</p>
          <p className="truncate text-2xs text-ink-3" title={about?.project}>
            {about?.projectName ?? " "}
          </p>
        </div>
      </div>
      {PLACES.map((place) => (
        <PlaceLink key={place.path} place={place} />
      ))}
      <MoreMenu onPalette={onPalette} />
      <div className="mt-auto hidden flex-col gap-1 pt-2 md:flex">
        <ModelNote />
        <div className="flex items-center gap-1">
          <Button kind="quiet" small className="flex-1 justify-start" onClick={onPalette}>
            <Command aria-hidden className="size-3.5" /> Commands <KeyHint keys={`${MOD} K`} />
          </Button>
          <ThemeButton />
        </div>
      </div>
    </nav>
  );
}

function PlaceLink({ place }: { place: AppPlace }) {
  const [path] = useLocation();
  const { asks } = useNews();
  const isHere = isInPlace(place, path);
  const count = place.path === "/approvals" ? asks : 0;
  const { icon: Icon } = place;
  return (
    <Link
      href={place.path}
      aria-current={isHere ? "page" : undefined}
      className={join(
        "group relative flex items-center gap-2 rounded-md text-ink-2 hover:bg-hover hover:text-ink max-md:flex-col max-md:gap-0.5 max-md:px-2 max-md:py-1.5 max-md:text-2xs md:h-8 md:px-2 md:text-sm",
        isHere && "bg-hover font-medium text-ink",
        place.isRare && "max-md:hidden",
      )}
    >
      <Icon aria-hidden className={join("size-4", isHere && "text-accent")} />
      {place.name}
      {count > 0 && (
        <span className="figures rounded-full bg-warn-soft px-1.5 text-2xs font-semibold text-warn max-md:absolute max-md:top-0 max-md:right-0 md:ml-auto">
          {count}
          <span className="sr-only"> waiting</span>
        </span>
      )}
    </Link>
  );
}

function ModelNote() {
  const { data: about } = useAbout();
  if (!about?.model.isOffline) return null;
  return (
    <Link
      href="/health"
      className="rounded-md bg-warn-soft px-2 py-1.5 text-2xs leading-4 text-ink-2 hover:text-ink"
    >
      <strong className="font-semibold text-warn">Offline model.</strong> Rules instead of weights. Add a key
      for more.
    </Link>
  );
}

/** Goes through system, light and dark. */
function ThemeButton() {
  const theme = useTheme();
  const { icon } = THEMES[theme];
  const next = () => chooseTheme(THEME_CHOICES[THEME_CHOICES.indexOf(theme) + 1] ?? "system");
  return <TipButton small icon={icon} words={`Theme: ${theme}`} onClick={next} />;
}

const ITEM = "flex h-10 w-full items-center gap-2.5 rounded-md px-2.5 text-sm data-[highlighted]:bg-hover";

/** On a phone: the screens that the bar has no room for, the theme, and the commands. */
function MoreMenu({ onPalette }: { onPalette: () => void }) {
  const [path, go] = useLocation();
  const theme = useTheme();
  const places = PLACES.filter(({ isRare }) => isRare);
  const isHere = places.some((place) => isInPlace(place, path));
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
                {isInPlace(place, path) && (
                  <>
                    <span className="sr-only">, this screen</span>
                    <Check aria-hidden className="ml-auto size-4 text-accent" />
                  </>
                )}
              </Menu.Item>
            ))}
            <Menu.Item onClick={onPalette} className={ITEM}>
              <Command aria-hidden className="size-4 text-ink-3" /> Find anything
            </Menu.Item>
            <Menu.Separator className="my-1 h-px bg-line" />
            <Menu.RadioGroup value={theme} onValueChange={chooseTheme}>
              {THEME_CHOICES.map((one) => {
                const { name, icon: Icon } = THEMES[one];
                return (
                  <Menu.RadioItem key={one} value={one} className={ITEM}>
                    <Icon aria-hidden className="size-4 text-ink-3" /> {name}
                    {one === theme && <Check aria-hidden className="ml-auto size-4 text-accent" />}
                  </Menu.RadioItem>
                );
              })}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
