import fc from "fast-check";
import { expect, test } from "vitest";
import { Ledger, type Need } from "./ledger.ts";

const never = new AbortController().signal;
const need = (inputTokens: number, outputTokens: number, leastOutputTokens = outputTokens): Need => ({
  inputTokens,
  outputTokens,
  leastOutputTokens,
  inputPrice: 0,
  outputPrice: 0,
});

test("a reservation counts in the account and in every ancestor until it is settled", async () => {
  const root = new Ledger("root", null, { tokens: 100 });
  const child = new Ledger("child", root, {});
  const reserved = await child.reserve(need(10, 40), never);
  expect([child.tokensReserved, root.tokensReserved]).toEqual([50, 50]);
  if (reserved.kind === "reserved") reserved.settle(12, 0);
  expect([root.tokensReserved, root.tokensSpent, child.tokensSpent]).toEqual([0, 12, 12]);
});

test("a call that does not fit waits for what others may give back, then takes less output", async () => {
  const root = new Ledger("root", null, { tokens: 100 });
  const [a, b] = [new Ledger("a", root, {}), new Ledger("b", root, {})];
  const first = await a.reserve(need(10, 60), never);
  let granted = 0;
  const second = b.reserve(need(10, 60, 20), never).then((result) => {
    granted = result.kind === "reserved" ? result.outputTokens : -1;
    return result;
  });
  await Promise.resolve();
  expect(granted).toBe(0);
  if (first.kind === "reserved") first.settle(50, 0);
  await second;
  expect(granted).toBe(40);
});

test("of a large output a call sets aside a share of what is free, so that siblings can work beside it", async () => {
  const root = new Ledger("root", null, { tokens: 100_000 });
  const large: Need = { ...need(1_000, 64_000, 256), usualOutputTokens: 8_192 };
  const granted: number[] = [];
  for (let child = 0; child < 8; child++) {
    const reserved = await new Ledger(`${child}`, root, {}).reserve(large, never);
    if (reserved.kind === "reserved") granted.push(reserved.outputTokens);
  }
  expect(granted).toEqual([24_750, 9_156, 8_192, 8_192, 8_192, 8_192, 8_192, 8_192]);
  expect(root.tokensReserved).toBeLessThanOrEqual(100_000);
});

test("with plenty in the budget, or none at all, a call may be as long as the model can make it", async () => {
  const large: Need = { ...need(1_000, 64_000, 256), usualOutputTokens: 8_192 };
  for (const limits of [{}, { tokens: 10_000_000 }, { costUsd: 1 }])
    expect(await new Ledger("root", null, limits).reserve(large, never)).toMatchObject({
      outputTokens: 64_000,
    });
});

test("a budget below the usual output still gets a call, with what there is", async () => {
  const large: Need = { ...need(1_000, 64_000, 256), usualOutputTokens: 8_192 };
  const root = new Ledger("root", null, { tokens: 3_000 });
  expect(await root.reserve(large, never)).toMatchObject({ kind: "reserved", outputTokens: 2_000 });
});

test("what cannot fit at all is refused with the account that is full", async () => {
  const root = new Ledger("root", null, { tokens: 30 });
  const child = new Ledger("child", root, { tokens: 1000 });
  const refused = await child.reserve(need(25, 60, 20), never);
  expect(refused).toMatchObject({ kind: "refused", resource: "tokens", account: root });
});

test("money that one call has set aside is not there for another, which waits until it comes back", async () => {
  const root = new Ledger("root", null, { costUsd: 1 });
  const [a, b] = [new Ledger("a", root, {}), new Ledger("b", root, {})];
  const priced = { ...need(0, 60), inputPrice: 0.01, outputPrice: 0.01 };
  const first = await a.reserve(priced, never);
  let isGranted = false;
  const second = b.reserve(priced, never).then((result) => {
    isGranted = true;
    return result;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isGranted).toBe(false);
  expect(root.costReserved).toBeCloseTo(0.6);
  if (first.kind === "reserved") first.settle(10, 0.1);
  expect(await second).toMatchObject({ kind: "reserved", outputTokens: 60 });
  expect(root.costReserved).toBeCloseTo(0.6);
});

test("cost is reserved at the price of the worst case", async () => {
  const root = new Ledger("root", null, { costUsd: 1 });
  const priced = { ...need(100, 100, 1), inputPrice: 0.004, outputPrice: 0.01 };
  const reserved = await root.reserve(priced, never);
  expect(reserved).toMatchObject({ kind: "reserved", outputTokens: 60 });
});

test("usage above the reservation is charged and blocks the next call", async () => {
  const root = new Ledger("root", null, { tokens: 100 });
  const reserved = await root.reserve(need(10, 50), never);
  if (reserved.kind === "reserved") reserved.settle(140, 0);
  expect(await root.reserve(need(1, 1), never)).toMatchObject({ kind: "refused" });
});

test("a wait for budget ends when the run is stopped", async () => {
  const root = new Ledger("root", null, { tokens: 50 });
  await root.reserve(need(10, 40), never);
  const controller = new AbortController();
  const waiting = root.reserve(need(10, 40), controller.signal);
  controller.abort();
  expect(await waiting).toMatchObject({ kind: "refused", resource: "cancelled" });
});

test("spawns are counted for the whole line of ancestors", () => {
  const root = new Ledger("root", null, { spawns: 2 });
  const child = new Ledger("child", root, {});
  expect([child.takeSpawn(), root.takeSpawn()]).toEqual([null, null]);
  expect(child.takeSpawn()).toBe(root);
});

test("in no order of reserving and settling do the accounts overshoot", async () => {
  const call = fc.record({
    child: fc.nat(4),
    input: fc.nat(30),
    output: fc.integer({ min: 1, max: 60 }),
    used: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 10, max: 300 }),
      fc.array(call, { maxLength: 40 }),
      fc.infiniteStream(fc.boolean()),
      async (limit, calls, order) => {
        const root = new Ledger("root", null, { tokens: limit });
        const children = Array.from(
          { length: 5 },
          (_, index) => new Ledger(`c${index}`, root, index === 0 ? { tokens: limit / 2 } : {}),
        );
        const open: (() => void)[] = [];
        const all = calls.map(async ({ child, input, output, used }) => {
          const account = children[child] as Ledger;
          const result = await account.reserve(need(input, output, 1), never);
          expect(root.tokensSpent + root.tokensReserved).toBeLessThanOrEqual(limit);
          if (result.kind !== "reserved") return;
          const settle = () => result.settle(Math.floor((input + result.outputTokens) * used), 0);
          open.push(settle);
          if (order.next().value) open.shift()?.();
        });
        const drain = setInterval(() => open.shift()?.(), 0);
        await Promise.all(all);
        clearInterval(drain);
        for (const settle of open) settle();
        expect(root.tokensSpent).toBeLessThanOrEqual(limit);
        expect(root.tokensReserved).toBe(0);
      },
    ),
    { numRuns: process.env.RETINUE_DEEP ? 1_000 : 60 },
  );
});

test("tokens that must stay free for the last report are not set aside, and without room beside them a call is refused", async () => {
  const open = () => new Ledger("run", null, { tokens: 1_000 });
  const need = {
    inputTokens: 100,
    outputTokens: 2_000,
    leastOutputTokens: 64,
    inputPrice: 0,
    outputPrice: 0,
  };
  const reserve = (spareTokens: number) => open().reserve({ ...need, spareTokens }, never);
  expect(await reserve(0)).toMatchObject({ kind: "reserved", outputTokens: 900 });
  expect(await reserve(300)).toMatchObject({ kind: "reserved", outputTokens: 600 });
  expect(await reserve(836)).toMatchObject({ kind: "reserved", outputTokens: 64 });
  expect(await reserve(837)).toMatchObject({ kind: "refused", resource: "tokens" });
});

test("settling a call a second time changes nothing", async () => {
  const root = new Ledger("root", null, { tokens: 100, costUsd: 1 });
  const reserved = await root.reserve(need(10, 40), never);
  if (reserved.kind === "reserved") for (let time = 0; time < 2; time++) reserved.settle(12, 0.1);
  expect([root.tokensReserved, root.tokensSpent, root.costSpent]).toEqual([0, 12, 0.1]);
});

test("what a call without a reservation used is booked here and in every ancestor", () => {
  const root = new Ledger("root", null, {});
  const child = new Ledger("child", root, {});
  child.charge(7, 0.5);
  for (const account of [child, root]) expect([account.tokensSpent, account.costSpent]).toEqual([7, 0.5]);
});

test("a child below an account with a limit knows that it is limited, and in what", () => {
  const below = (limits: { tokens?: number; costUsd?: number }) =>
    new Ledger("grandchild", new Ledger("child", new Ledger("root", null, limits), {}), {});
  const seen = [{}, { tokens: 1 }, { costUsd: 1 }].map(below);
  expect(seen.map(({ limited, costLimited }) => [limited, costLimited])).toEqual([
    [false, false],
    [true, false],
    [true, true],
  ]);
});

test("money allows only whole tokens, and none at all once it is spent, also where output is free", async () => {
  const price = { inputPrice: 0, outputPrice: 0.3 };
  const root = new Ledger("root", null, { costUsd: 1 });
  expect(await root.reserve({ ...need(0, 10, 1), ...price }, never)).toMatchObject({ outputTokens: 3 });
  const spent = new Ledger("root", null, { costUsd: 1 });
  spent.charge(1, 1.5);
  const free = { ...need(5, 5), inputPrice: 0.01, outputPrice: 0 };
  expect(await spent.reserve(free, never)).toMatchObject({
    kind: "refused",
    resource: "cost",
    account: spent,
  });
});

test("who no longer waits for budget is not among the waiters any more", async () => {
  const root = new Ledger("root", null, { tokens: 50 });
  const first = await root.reserve(need(10, 40), never);
  const controller = new AbortController();
  const stopped = root.reserve(need(10, 40), controller.signal);
  const next = root.reserve(need(10, 20), never);
  expect(root.waiters.size).toBe(2);
  controller.abort();
  await stopped;
  expect(root.waiters.size).toBe(1);
  if (first.kind === "reserved") first.settle(20, 0);
  expect(await next).toMatchObject({ kind: "reserved" });
  expect(root.waiters.size).toBe(0);
});
