import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { askFor, readSecret } from "./ask.ts";

/** A terminal at which somebody types; keeps what is shown, and whether typing was echoed. */
function desk({ interactive = true, env = {} }: { interactive?: boolean; env?: NodeJS.ProcessEnv } = {}) {
  const keys = new PassThrough();
  const modes: boolean[] = [];
  let shown = "";
  const show = (text: string) => {
    shown += text;
  };
  const stdin = Object.assign(keys, { isRaw: false, setRawMode: (mode: boolean) => void modes.push(mode) });
  const terminal = { env, stdin, interactive, tell: show, prompt: show };
  return { terminal, keys, modes, shown: () => shown };
}

const PASSWORD = { question: "password of ada", stdin: undefined, env: undefined, flags: "--password-stdin" };

test("a secret is typed without being shown, and mistakes can be corrected", async () => {
  const { terminal, keys, modes, shown } = desk();
  const asked = readSecret(PASSWORD, terminal);
  keys.write("sesamx");
  keys.write("\u007fe ö\u0001");
  keys.write("\r");
  expect(await asked).toBe("sesame ö");
  expect(modes).toEqual([true, false]);
  expect(shown()).toBe("password of ada (not shown): ");
});

test("Ctrl-C ends the question and shows typing again", async () => {
  const { terminal, keys, modes } = desk();
  const asked = readSecret(PASSWORD, terminal);
  keys.write("ses\u0003");
  await expect(asked).rejects.toMatchObject({ code: "usage", message: "stopped; nothing was saved" });
  expect(modes).toEqual([true, false]);
});

test("a secret comes unchanged from the first line of stdin, or from a variable", async () => {
  const { terminal, keys } = desk({ interactive: false, env: { PW: " from env " } });
  keys.end(" from stdin \r\nnot this\n");
  expect(await readSecret({ ...PASSWORD, stdin: true }, terminal)).toBe(" from stdin ");
  expect(await readSecret({ ...PASSWORD, env: "PW" }, terminal)).toBe(" from env ");
  await expect(readSecret({ ...PASSWORD, stdin: true, env: "PW" }, terminal)).rejects.toMatchObject({
    code: "usage",
  });
});

test("a missing secret and one that is too long are refused without being repeated", async () => {
  const { terminal } = desk({ env: { LONG: "x".repeat(5_000) } });
  await expect(readSecret({ ...PASSWORD, env: "NONE" }, terminal)).rejects.toMatchObject({ code: "input" });
  const thrown = await readSecret({ ...PASSWORD, env: "LONG" }, terminal).catch((error: Error) => error);
  expect(thrown).toMatchObject({ code: "input" });
  expect(String(thrown)).not.toContain("xxx");
});

test("a question takes an answer or its proposal, and names the flag when nobody is there", async () => {
  const answered = desk();
  const asked = askFor(
    { value: undefined, flag: "--user", question: "name", proposal: "ada" },
    answered.terminal,
  );
  answered.keys.write("bob\n");
  expect(await asked).toBe("bob");
  expect(answered.shown()).toBe("name [ada]: ");
  const silent = desk();
  const proposed = askFor(
    { value: undefined, flag: "--user", question: "name", proposal: "ada" },
    silent.terminal,
  );
  silent.keys.write("\n");
  expect(await proposed).toBe("ada");
  const nobody = desk({ interactive: false });
  await expect(
    askFor({ value: undefined, flag: "--user", question: "name" }, nobody.terminal),
  ).rejects.toMatchObject({
    code: "usage",
    message: "there is nobody to ask, so --user is needed",
  });
});
