import { homedir } from "node:os";
import { expect, test } from "vitest";
import { findPlaces } from "./places.ts";

test("without anything said, settings and data are in their usual places below the home", () => {
  expect(findPlaces({ HOME: "/home/ada" })).toEqual({
    homeDir: "/home/ada",
    configHome: "/home/ada/.config",
    configDir: "/home/ada/.config/retinue",
    dataDir: "/home/ada/.local/share/retinue",
  });
  expect(findPlaces({}).homeDir).toBe(homedir());
});

test("the XDG folders count if they are absolute, and RETINUE_HOME moves the data alone", () => {
  const env = { HOME: "/home/ada", XDG_CONFIG_HOME: "/etc/ada", XDG_DATA_HOME: "/var/ada" };
  expect(findPlaces(env)).toMatchObject({ configDir: "/etc/ada/retinue", dataDir: "/var/ada/retinue" });
  expect(findPlaces({ HOME: "/home/ada", XDG_CONFIG_HOME: "here", XDG_DATA_HOME: "" })).toMatchObject({
    configDir: "/home/ada/.config/retinue",
    dataDir: "/home/ada/.local/share/retinue",
  });
  expect(findPlaces({ ...env, RETINUE_HOME: "/data" })).toMatchObject({
    configDir: "/etc/ada/retinue",
    dataDir: "/data",
  });
});
