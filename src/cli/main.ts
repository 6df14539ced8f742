#!/usr/bin/env node
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { findPlaces } from "../runtime/project/places.ts";

// What the engine makes of the program's text is kept, from the first run on: a fifth of a short run's time. It is run as it
// is, so it lies where no tool and no command may write.
const { dataDir } = findPlaces(process.env);
if (existsSync(dataDir)) enableCompileCache(join(dataDir, "compiled"));

const { runCli } = await import("./run-cli.ts");
const { createTerminal } = await import("./terminal.ts");
process.exitCode = await runCli(process.argv.slice(2), createTerminal(process));
