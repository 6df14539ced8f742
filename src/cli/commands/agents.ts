import type { Command } from "commander";
import type { Cli } from "../program.ts";
import { registerAgentsCheck } from "./agents/agents-check.ts";
import { registerAgentsExplain } from "./agents/agents-explain.ts";
import { registerAgentsList } from "./agents/agents-list.ts";
import { registerAgentsMake } from "./agents/agents-make.ts";
import { registerAgentsShow } from "./agents/agents-show.ts";

/** Registers `retinue agents` with everything below it. */
export function registerAgents(program: Command, cli: Cli): void {
  const agents = program.command("agents").description("the agents of this project").helpCommand(false);
  registerAgentsList(agents, cli);
  registerAgentsShow(agents, cli);
  registerAgentsCheck(agents, cli);
  registerAgentsExplain(agents, cli);
  registerAgentsMake(agents, cli);
}
