#!/usr/bin/env node
import { runCli } from "./run-cli.ts";
import { createTerminal } from "./terminal.ts";

process.exitCode = await runCli(process.argv.slice(2), createTerminal(process));
