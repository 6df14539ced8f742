// Reads pages with the usual libraries, in place of our own reader.
import { parentPort } from "node:worker_threads";
import { Readability } from "@mozilla/readability";
import { JSDOM, VirtualConsole } from "jsdom";
import TurndownService from "turndown";

parentPort.on("message", ({ text, url }) => {
  const dom = new JSDOM(text, { url, virtualConsole: new VirtualConsole() });
  const article = new Readability(dom.window.document).parse();
  const markdown = article?.content ? new TurndownService().turndown(article.content) : "";
  dom.window.close();
  parentPort.postMessage(
    markdown
      ? { status: "read", page: { title: article.title, markdown, words: markdown.split(/\s+/).length } }
      : { status: "failed", reason: "no readable text" },
  );
});
