import type { Terminal } from "../terminal.ts";
import { type Finding, ok, warning } from "./check.ts";

const NARROW = 60;

/** What this terminal can show. */
export function checkTerminal({ env, interactive, screen }: Terminal): Finding {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  const unicode = process.platform === "win32" || process.platform === "darwin" || /utf-?8/i.test(locale);
  const plain = env.NO_COLOR ? "NO_COLOR" : env.TERM === "dumb" ? "TERM=dumb" : undefined;
  const size = screen?.size();
  const facts = { interactive, unicode, colour: plain === undefined, ...size };
  if (!interactive) return ok("not a terminal: nobody is asked, asks are denied", { facts });
  const shape = size ? `, ${size.columns}x${size.rows}` : "";
  const told = `a terminal (${env.TERM ?? "of unknown kind"}${shape}), ${plain ? `no colour (${plain})` : "colour"}`;
  if (!unicode)
    return warning(
      `${told}, no UTF-8 (${locale || "no locale is set"}): icons may look wrong`,
      "export LANG=C.UTF-8",
      {
        facts,
      },
    );
  if (size && size.columns < NARROW)
    return warning(`${told}: narrow, lines are cut`, "make the window at least 80 columns wide", { facts });
  return ok(`${told}, UTF-8`, { facts });
}
