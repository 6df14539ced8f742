#!/usr/bin/env node
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { findPlaces } from "@retinue/core/settings/places";

// Compiled code is cached, which saves a fifth of a short run's time. It is executed as it is, so it lies where no tool and no
// command may write.
const { dataDir } = findPlaces(process.env);
if (existsSync(dataDir)) enableCompileCache(join(dataDir, "compiled"));

const { runCli } = await import("./run-cli.ts");
const { createTerminal } = await import("./terminal.ts");
process.exitCode = await runCli(process.argv.slice(2), createTerminal(process));
