/** What program text in another language than the shell's does, by the names of what it calls. */
export type CodeHazards = {
  readonly deletes: boolean;
  /** It runs text, and brings that from outside. */
  readonly runsFetched: boolean;
  /** It runs text that comes in. */
  readonly runsInput: boolean;
  /** It runs text that it decodes first. */
  readonly runsDecoded: boolean;
};

const DELETES = new RegExp(
  [
    String.raw`\b(?:rmtree|removedirs|unlink(?:Sync|_to)?|rm(?:dir)?Sync|rm_rf?|rm_f|remove_tree|remove_entry(?:_secure)?|rimraf|delete_?file|deleteRecursively|Remove-Item)\b`,
    String.raw`\bos['"]?\)?\.(?:remove|rmdir)\b|\bfrom\s+os\s+import\b[^;\n]*\b(?:remove|rmdir)\b`,
    String.raw`\bfs(?:p|Promises|\.promises)?\.rm\b|\bpromises['"]?\)?\.rm\b|\{[^{}]*\brm\b[^{}]*\}\s*(?:=|from\b)`,
    String.raw`\b(?:File|Dir|FileUtils)\.(?:delete|rm\w*|unlink)\b|\bDeno\.remove|\bdel\s+\/`,
    // A command that the code starts, as one text or as a list of words.
    String.raw`(?:^|[\s'"\x60([;&|])rm['"\x60,]?\s+['"]?[-\w./~*$]|['"\x60]rm['"\x60]\s*,\s*['"\x60[]`,
  ].join("|"),
);
const FETCHES =
  /\b(?:fetch|urlopen|urlretrieve|requests|httpx|aiohttp|urllib\w*|https?\.get|file_get_contents|open-uri|URI\.open|Net::HTTP|LWP|HTTP::Tiny|curl|wget|DownloadString|Invoke-WebRequest|iwr|irm)\b|socket|https?:\/\//i;
const RUNS =
  /\b(?:eval|exec\w*|compile|Function|vm\.|runIn\w+|system|spawn\w*|popen|child_process|subprocess|instance_eval|class_eval|loadstring|iex|Invoke-Expression|passthru|shell_exec)\b|\bimport\s*\(|`/;
const DECODES =
  /\b(?:b64decode|b32decode|b85decode|decode_base64|decode64|unhexlify|fromhex|base64_decode|atob|gzinflate|unpack1?)\b|['"](?:base64|hex)['"]/;
/** Code that evaluates a text, and not merely uses a word like `exec` for something else. */
const EVALUATES = /(?<![.\w])(?:eval|exec|compile|Function)\b|child_process|subprocess|\bos\.system\b/;
const READS_INPUT =
  /stdin|STDIN|readFileSync\(\s*0|\/dev\/stdin|<>|php:\/\/input|\binput\(|\bgets\b|\bARGF\b/;

/** Reads code as far as names tell what it does. */
export function readCodeHazards(code: string): CodeHazards {
  const runs = RUNS.test(code);
  return {
    deletes: DELETES.test(code),
    runsFetched: runs && FETCHES.test(code),
    runsInput: runs && READS_INPUT.test(code),
    runsDecoded: EVALUATES.test(code) && DECODES.test(code),
  };
}
