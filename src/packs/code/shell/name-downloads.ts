import type { Word } from "../../../permissions/patterns/shell-word.ts";
import { cutFolder, hasOption } from "./command-words.ts";

/** Programs that print what they bring unless their output is led elsewhere. */
const PRINTS =
  /^(?:dig|drill|kdig|nslookup|ssh|nc|ncat|netcat|socat|telnet|http|https|httpie|xh|xhs|get|lynx|w3m|links|elinks|lwp-request)$/;
/** The server says another name, or a file tells the addresses. */
const NAMED_ELSEWHERE =
  /^(?:-[^-]*[JKimprx]|--(?:remote-header|content-disp|trust-server|input-file|config|mirror|recursive))/;

/** The names that a program saves its downloads under, without folders; null for one that is not known. */
export function nameDownloads(program: string, rest: readonly Word[]): (string | null)[] {
  const isCurl = program === "curl";
  if (!isCurl && !program.startsWith("wget")) return PRINTS.test(program) ? [] : [null];
  const files = rest.flatMap((word, index) => {
    const glued = (isCurl ? /^(?:-[^-]*o|--output=)(.+)$/ : /^(?:-[^-]*O|--output-document=)(.+)$/).exec(
      word.value,
    );
    const isOption = (isCurl ? /^(?:-\w*o|--output)$/ : /^(?:-\w*O|--output-document)$/).test(word.value);
    return (isOption ? rest[index + 1] : glued && { ...word, value: glued[1] ?? "" }) ?? [];
  });
  const names = files
    .filter(({ value }) => value !== "-" && value !== "/dev/null")
    .map(({ value, dynamic }) => (dynamic ? null : cutFolder(value)));
  const keepsName = isCurl ? hasOption(rest, /^(?:-[^-]*O|--remote-name)/) : files.length === 0;
  return keepsName ? [...names, ...nameFromAddresses(rest)] : names;
}

/** The names that addresses give to files. */
function nameFromAddresses(rest: readonly Word[]): (string | null)[] {
  const addresses = rest.filter(({ value }) => /^(?:https?|ftp):\/\/|^[\w-]+(?:\.[\w-]+)+\//i.test(value));
  const isUnknown = addresses.length === 0 || addresses.some((word) => word.dynamic);
  if (isUnknown || hasOption(rest, NAMED_ELSEWHERE)) return [null];
  return addresses.flatMap(({ value }) => {
    const path = value.replace(/^\w+:\/\//, "").replace(/#.*$/, "");
    const name = path.includes("/") ? cutFolder(path.replace(/\?.*$/, "")) : "";
    // Some programs keep the query in the name.
    return [name || "index.html", cutFolder(path)];
  });
}
