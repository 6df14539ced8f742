import { guards } from "../loop/guards.ts";
import { visibleTools } from "../permissions/visible-tools.ts";
import { admitChild } from "./delegation/admit-child.ts";
import type { RuntimeGuards } from "./host.ts";

/** All guards as they always are outside of tests. */
export const runtimeGuards: RuntimeGuards = Object.freeze({ ...guards, admitChild, visibleTools });
