import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "without a model, a report is made of the project's own documents",
  isParallel: true,
  // The documents' server was at an address of the process that recorded it; to another process it is any address.
  replayDiffersAt: "the call of crawl_parallel",
  files: {
    "documents/tape.md":
      "# Tape\n\nTape costs 6 EUR per terabyte in 2025. It lasts 30 years. Reading it back takes hours.\n",
    "documents/disks.md":
      "# Disks\n\nDisks cost 18 EUR per terabyte in 2025. They last five years. Reading them back takes minutes.\n",
    "documents/copies.txt":
      "Copies\n\nThree copies on two kinds of media, one of them elsewhere, survive most accidents.\n",
  },
  settings: { search: { provider: "local", folders: ["documents"] } },
  request: { agent: "main", task: "Get me a comprehensive report on storage costs from the sources" },
});
