import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, hasProgram, startService } from "../fixtures/local-service.ts";
import { PASSWORD, startDovecot, startSmtp } from "../fixtures/mail-servers.ts";
import { type Ended, World } from "./world.ts";

const ADDRESS_BOOK =
  '<?xml version="1.0"?><create xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:carddav"><set><prop><resourcetype><collection/><c:addressbook/></resourcetype></prop></set></create>';
const ENV = { RETINUE_KEYRING: "off" };

/** Files that hold the password, of all that the program left behind. */
function holdingPassword(world: World): string[] {
  return readdirSync(world.root, { recursive: true, encoding: "utf8" }).filter((path) => {
    const full = join(world.root, path);
    return statSync(full).isFile() && readFileSync(full).includes(PASSWORD);
  });
}

function add(world: World, kind: string, args: string[], password = PASSWORD): Promise<Ended> {
  return world.call(["accounts", "add", kind, "--address", "ada@example.org", "--password-stdin", ...args], {
    env: ENV,
    input: `${password}\n`,
  });
}

describe.skipIf(!hasProgram("dovecot", "--version"))("an account on dovecot", () => {
  let imap: Awaited<ReturnType<typeof startDovecot>>;
  let smtp: Awaited<ReturnType<typeof startSmtp>>;
  beforeAll(async () => {
    [imap, smtp] = await Promise.all([startDovecot(), startSmtp()]);
  });
  afterAll(() => Promise.all([imap?.stop(), smtp?.stop()]));
  const servers = () => [
    "--imap",
    `127.0.0.1:${imap.port}`,
    "--smtp",
    `127.0.0.1:${smtp.port}`,
    "--user",
    "ada",
  ];

  test("is added once both servers took the password, which is kept in one place only", async () => {
    await using world = new World();
    const added = await add(world, "imap", servers());
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("it serves mail") });
    expect(added.stdout + added.stderr).not.toContain(PASSWORD);
    expect(holdingPassword(world)).toEqual(["data/secrets/imap.json"]);
    expect(await world.call(["accounts", "test"], { env: ENV })).toMatchObject({
      code: 0,
      stdout: "imap  mail  ok\n",
    });
    expect(smtp.taken).toEqual([]);
  });

  test("is not added with a wrong password, nor if no mail can be sent", async () => {
    await using world = new World();
    const wrong = await add(world, "imap", servers(), "battery-staple");
    expect(wrong).toMatchObject({ code: 41, stderr: expect.stringContaining("nothing was saved") });
    expect(wrong.stderr).not.toContain("battery-staple");
    const mute = await add(world, "imap", ["--imap", `127.0.0.1:${imap.port}`, "--smtp", "127.0.0.1:1"]);
    expect(mute).toMatchObject({ code: 42, stderr: expect.stringContaining("127.0.0.1:1") });
    expect(holdingPassword(world)).toEqual([]);
  });
});

describe.skipIf(!hasProgram("radicale", "--version"))("an account on radicale", () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-radicale-"));
  let url = "";
  let service: Awaited<ReturnType<typeof startService>> | undefined;
  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}/`;
    writeFileSync(join(folder, "users"), `ada:${PASSWORD}\nbob:${PASSWORD}\n`);
    writeFileSync(
      join(folder, "config"),
      `[server]\nhosts = 127.0.0.1:${port}\n[auth]\ntype = htpasswd\nhtpasswd_filename = ${folder}/users\nhtpasswd_encryption = plain\n[storage]\nfilesystem_folder = ${folder}/data\n`,
    );
    service = await startService("radicale", ["--config", join(folder, "config")], port);
    expect([await make("ada", "MKCALENDAR"), await make("bob", "MKCOL", ADDRESS_BOOK)]).toEqual([201, 201]);
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function make(user: string, method: string, body?: string): Promise<number> {
    const authorization = `Basic ${Buffer.from(`${user}:${PASSWORD}`).toString("base64")}`;
    const headers = { authorization, "content-type": "application/xml" };
    return (await fetch(`${url}${user}/own/`, { method, headers, ...(body && { body }) })).status;
  }

  test("is added for what the server has, and says how to leave out what it does not", async () => {
    await using world = new World();
    const both = await add(world, "caldav", ["--url", url, "--user", "bob"]);
    expect(both).toMatchObject({ code: 42, stderr: expect.stringContaining("--services contacts") });
    expect(holdingPassword(world)).toEqual([]);
    const bob = ["--url", url, "--user", "bob", "--services", "contacts"];
    const books = await add(world, "caldav", bob);
    expect(books).toMatchObject({ code: 0, stdout: expect.stringContaining("it serves contacts") });
    const ada = ["--url", url, "--user", "ada", "--services", "calendar", "--id", "dates"];
    const dates = await add(world, "caldav", ada);
    expect(dates).toMatchObject({ code: 0, stdout: expect.stringContaining("it serves calendar") });
    expect(holdingPassword(world).toSorted()).toEqual([
      "data/secrets/caldav.json",
      "data/secrets/dates.json",
    ]);
    expect(await world.call(["accounts", "test"], { env: ENV })).toMatchObject({
      code: 0,
      stdout: "caldav  contacts  ok\ndates   calendar  ok\n",
    });
  });

  test("is not added with a wrong password", async () => {
    await using world = new World();
    const wrong = await add(world, "caldav", ["--url", url, "--user", "ada"], "battery-staple");
    expect(wrong).toMatchObject({ code: 41, stderr: expect.stringContaining("the password was refused") });
  });
});
