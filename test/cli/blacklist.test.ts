import { openBlacklist } from "@retinue/research/crawl/blacklist";
import { afterAll, expect, test } from "vitest";
import { World } from "./world.ts";

const world = new World();
afterAll(() => world[Symbol.asyncDispose]());

test("the blacklist can be seen and edited", async () => {
  expect(await world.call(["blacklist"])).toMatchObject({ code: 0, stdout: "no domain is blacklisted\n" });
  const learnt = openBlacklist(world.data);
  for (const page of [1, 2, 3]) learnt.noteMissing(`https://gone.example/${page}`);
  learnt.close();
  expect((await world.call(["blacklist", "add", "https://www.ads.example/x"])).stdout).toBe(
    "added ads.example\n",
  );
  const { stdout } = await world.call(["blacklist", "list"]);
  expect(stdout).toMatch(
    /^ads\.example {3}since \S+ {2}by a person\ngone\.example {2}since \S+ {2}3 pages were not there\n$/,
  );
  expect(JSON.parse((await world.call(["blacklist", "--json"])).stdout)).toMatchObject([
    { domain: "ads.example", by: "person" },
    { domain: "gone.example", by: "crawl", failures: 3 },
  ]);
  expect((await world.call(["blacklist", "remove", "gone.example", "x.example"])).stdout).toBe(
    "removed gone.example\nx.example was not on the list\n",
  );
  expect((await world.call(["blacklist", "clear"])).stdout).toBe("removed all: 1\n");
});

test.each([
  [["blacklist", "add"], "needs a domain"],
  [["blacklist", "clear", "a.example"], "takes no domain"],
  [["blacklist", "add", "not a domain"], "is not a domain"],
  [["blacklist", "burn"], "burn"],
])("%j is refused with exit code 2", async (args, message) => {
  const ended = await world.call(args);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain(message);
});
