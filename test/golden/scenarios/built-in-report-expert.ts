import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a request for a report must go to the expert, who owes a corpus and a page",
  scripts: {
    main: [
      say("Here is your report: trains run at night."),
      callTool("delegate", { agent: "report-creation-expert", task: "A report on night trains" }),
      say("The report is in work_products/night-trains.html."),
    ],
    "report-creation-expert": [
      callTool("write_local_file", { path: "night-trains.html", content: "<h1>too early</h1>" }),
      callTool("crawl_parallel", { urls: ["http://127.0.0.1:9/trains"] }),
      callTool("save_corpus", { articles: [{ url: "http://127.0.0.1:9/trains", status: "failed" }] }),
      say("Nothing could be read."),
      say("Still nothing."),
    ],
  },
  request: { agent: "main", task: "Get me a comprehensive report on news about night trains" },
});
