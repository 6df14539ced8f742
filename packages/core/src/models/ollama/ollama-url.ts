const USUAL_PORT = "11434";

/**
 * The address of an Ollama server, from anything `OLLAMA_HOST` may hold: a host, a port, both, or a whole URL. An address
 * to listen on everywhere is reached on this machine. What is no address comes back as it is, and fails with its name.
 */
export function ollamaUrl(given: string): string {
  const text = given
    .trim()
    .replace(/\/+$/, "")
    .replace(/\/(v1|api)$/, "");
  const hasScheme = /^https?:\/\//i.test(text);
  const url = URL.parse(hasScheme ? text : `http://${text.startsWith(":") ? `127.0.0.1${text}` : text}`);
  if (!url) return text;
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  if (!hasScheme && url.port === "" && !/:80$/.test(text)) url.port = USUAL_PORT;
  return url.href.replace(/\/+$/, "");
}
