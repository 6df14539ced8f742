import { expect, test } from "vitest";
import { secretsFromEnvironment } from "./secrets-from-environment.ts";

test("values of variables that promise a secret are taken, longest first", () => {
  const env = {
    OPENAI_API_KEY: "sk-1234567890",
    GITHUB_TOKEN: "ghp_abcdef12",
    DB_PASSWORD: "p4ssw0rd!",
    MY_SECRET_2: "another-secret-value",
    APIKEY: "abcd1234",
    DATABASE_URL: "postgres://u:p@h/db",
    GOOGLE_CREDENTIALS: '{"type":"service_account"}',
    npm_config__authToken: "npm-auth-1",
  };
  const found = secretsFromEnvironment(env);
  expect(new Set(found)).toEqual(new Set(Object.values(env)));
  expect(found.map((value) => value.length)).toEqual(
    found.map((value) => value.length).sort((a, b) => b - a),
  );
});

test("names without promise and values that are no secrets are left", () => {
  expect(
    secretsFromEnvironment({
      HOME: "/home/user1234",
      PWD: "/home/user1234",
      LANG: "en_US.UTF-8-long1",
      MONKEY_NAME: "abcdef123456",
      KEYBOARD: "qwerty-1234",
      TOKENIZERS_PARALLELISM: "false1234",
      SSH_AUTH_SOCK: "/tmp/ssh-abcdef/agent.1",
      SSL_KEY_FILE: "certificate-1.pem",
      PRIVATE_KEY: "/etc/keys/private.pem",
      MAX_TOKEN: "1234567890",
      SHORT_TOKEN: "abc123",
      USE_TOKEN: "disabled",
      AUTH_METHOD: "oauth2-device",
      DB_PASSWORD: "postgres",
      EMPTY_SECRET: undefined,
    }),
  ).toEqual([]);
});
