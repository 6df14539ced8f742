import { admitChild } from "../delegate/admit-child.ts";
import { visibleTools } from "../rights/visible-tools.ts";
import { guards } from "../run/guards.ts";
import type { RuntimeGuards } from "./host.ts";

/** All guards as they always are outside of tests. */
export const runtimeGuards: RuntimeGuards = Object.freeze({ ...guards, admitChild, visibleTools });
