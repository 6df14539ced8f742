import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import net from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import type { TestServer } from "../../../../test/fixtures/model-server.ts";
import { startRawServer, startServer } from "../../../../test/fixtures/model-server.ts";
import type { Transport, TransportReply } from "../schema/transport.ts";
import type { TransportOptions } from "./transport.ts";
import { createTransport } from "./transport.ts";

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function transport(options?: TransportOptions): Transport {
  const created = createTransport(options);
  cleanUps.push(() => created.close());
  return created;
}

async function serving(starting: Promise<TestServer>): Promise<TestServer> {
  const server = await starting;
  cleanUps.push(server.close);
  return server;
}

function read(reply: TransportReply): Promise<{ text: string; error: unknown }> {
  return new Promise((resolve) => {
    let text = "";
    reply.read({
      chunk: (bytes) => {
        text += bytes.toString("utf8");
      },
      end: (error) => resolve({ text, error }),
    });
  });
}

/** Answers whatever comes, by default with `ok`, and counts the connections. */
async function startCounting(
  answer: (socket: net.Socket) => void = (socket) => socket.write(ok),
): Promise<TestServer & { countConnections(): number }> {
  let connections = 0;
  const server = await serving(
    startRawServer((socket, connection) => {
      connections = Math.max(connections, connection + 1);
      answer(socket);
    }),
  );
  return { ...server, countConnections: () => connections };
}

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

test("a reply carries status, headers and body, and asks for no compression", async () => {
  const server = await serving(
    startServer((_, response) => response.writeHead(201, { "x-kind": "test" }).end("körper")),
  );
  const reply = await transport().post(server.url, { headers: { "x-from": "here" }, body: "grüße" });
  expect([reply.status, reply.headers["x-kind"]]).toEqual([201, "test"]);
  expect(await read(reply)).toEqual({ text: "körper", error: undefined });
  expect(server.seen[0]).toMatchObject({
    method: "POST",
    body: "grüße",
    headers: { "x-from": "here", "accept-encoding": "identity" },
  });
});

test("requests in a row share one connection", async () => {
  const server = await startCounting();
  const pooled = transport();
  for (let round = 0; round < 5; round++) await read(await pooled.get(server.url, { headers: {} }));
  expect(server.countConnections()).toBe(1);
});

test("maxSockets makes further requests wait for a connection", async () => {
  const server = await startCounting();
  const pooled = transport({ maxSockets: 2 });
  const requests = Array.from({ length: 10 }, async () =>
    read(await pooled.get(server.url, { headers: {} })),
  );
  await Promise.all(requests);
  expect(server.countConnections()).toBe(2);
});

test("a pooled connection that the server has closed is replaced once, without the caller noticing", async () => {
  let requests = 0;
  const server = await serving(
    startRawServer((socket, connection) => {
      requests++;
      if (connection === 0 && requests > 1) socket.resetAndDestroy();
      else socket.write(ok);
    }),
  );
  const pooled = transport();
  await read(await pooled.post(server.url, { headers: {}, body: "1" }));
  const second = await pooled.post(server.url, { headers: {}, body: "2" });
  expect(await read(second)).toEqual({ text: "ok", error: undefined });
  expect(requests).toBe(3);
});

test("a fresh connection that is reset before any reply fails as reset and is not tried again", async () => {
  let requests = 0;
  const server = await serving(
    startRawServer((socket) => {
      requests++;
      socket.resetAndDestroy();
    }),
  );
  await expect(transport().post(server.url, { headers: {} })).rejects.toMatchObject({ failure: "reset" });
  expect(requests).toBe(1);
});

test("a port nobody listens on fails as refused and names the host", async () => {
  const server = await startServer(() => {});
  await server.close();
  await expect(transport().post(server.url, { headers: {} })).rejects.toMatchObject({
    failure: "refused",
    code: "ECONNREFUSED",
    host: server.url.replace("http://", ""),
  });
});

test("a name that cannot be resolved fails as dns", async () => {
  await expect(transport().get("http://no-such-host.invalid/", { headers: {} })).rejects.toMatchObject({
    failure: "dns",
  });
});

test.each(["", "not a url", "ftp://example.org/", "file:///etc/passwd", "http://a%zz@host/"])(
  "the address %j is refused",
  async (url) => {
    await expect(transport().get(url, { headers: {} })).rejects.toMatchObject({ failure: "other" });
  },
);

test("headers that cannot be sent fail without showing their value", async () => {
  const failing = transport().get("http://127.0.0.1:1/", { headers: { authorization: "Bearer secret\nx" } });
  await expect(failing).rejects.toMatchObject({
    failure: "other",
    message: expect.not.stringContaining("secret"),
  });
});

test("a login in the address is sent as basic authentication", async () => {
  const server = await serving(startServer((_, response) => response.end()));
  await read(await transport().get(server.url.replace("//", "//me:p%40ss@"), { headers: {} }));
  expect(server.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from("me:p@ss").toString("base64")}`);
});

test("a request that gives its own authorization sends that and not the login in the address", async () => {
  const server = await serving(startServer((_, response) => response.end()));
  const headers = { Authorization: "Bearer key" };
  await read(await transport().get(server.url.replace("//", "//me:word@"), { headers }));
  expect(server.seen[0]?.headers.authorization).toBe("Bearer key");
});

test("a connection that is not made in time fails as connect_timeout", async () => {
  const listener = net.createServer(() => {});
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  cleanUps.push(() => listener.close());
  // TLS to a listener that never answers the handshake.
  const url = `https://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
  await expect(transport({ connectTimeoutMs: 50 }).get(url, { headers: {} })).rejects.toMatchObject({
    failure: "connect_timeout",
  });
});

test("redirects are not followed and the place they name is told without its query", async () => {
  const server = await serving(
    startServer((_, response) =>
      response.writeHead(307, { location: "https://else.example/v2?token=abc" }).end(),
    ),
  );
  const failing = transport().post(server.url, { headers: {} });
  await expect(failing).rejects.toMatchObject({ failure: "redirect" });
  await expect(failing).rejects.toThrow("https://else.example/v2;");
  expect(server.seen).toHaveLength(1);
});

test("an aborted request closes its connection, before and after the headers", async () => {
  for (const sendHeaders of [false, true]) {
    const controller = new AbortController();
    const closed = Promise.withResolvers<void>();
    const server = await serving(
      startServer((_, response) => {
        response.once("close", () => closed.resolve());
        if (sendHeaders) response.writeHead(200).write("begin");
        else controller.abort();
      }),
    );
    const requested = transport().post(server.url, { headers: {}, signal: controller.signal });
    if (sendHeaders) {
      const reading = read(await requested);
      controller.abort();
      expect(await reading).toMatchObject({ error: { failure: "aborted" } });
    } else {
      await expect(requested).rejects.toMatchObject({ failure: "aborted" });
    }
    await closed.promise;
  }
});

test("a signal that is aborted already sends nothing", async () => {
  const server = await serving(startServer((_, response) => response.end()));
  const request = transport().post(server.url, { headers: {}, signal: AbortSignal.abort() });
  await expect(request).rejects.toMatchObject({ failure: "aborted" });
  expect(server.seen).toHaveLength(0);
});

test("a body cut off before its length is an error, not an end", async () => {
  const server = await serving(
    startRawServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")),
  );
  expect(await read(await transport().get(server.url, { headers: {} }))).toMatchObject({
    text: "half",
    error: { failure: "reset" },
  });
});

test("what is not HTTP fails as protocol", async () => {
  const server = await serving(startRawServer((socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n")));
  await expect(transport().get(server.url, { headers: {} })).rejects.toMatchObject({ failure: "protocol" });
});

test("the text of an endless body is cut at the limit and the connection dropped", async () => {
  const closed = Promise.withResolvers<void>();
  const server = await serving(
    startServer((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(10_000)));
      };
      response.once("close", () => closed.resolve());
      response.on("drain", more);
      more();
    }),
  );
  const reply = await transport().get(server.url, { headers: {} });
  expect(await reply.text(1_000)).toBe("x".repeat(1_000));
  await closed.promise;
});

test("a released reply is drained, so its connection serves the next request", async () => {
  const server = await startCounting((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nend");
    setImmediate(() => socket.write("ing"));
  });
  const pooled = transport({ maxSockets: 1 });
  const first = await pooled.get(server.url, { headers: {} });
  await new Promise<void>((resolve) => {
    first.read({ chunk: () => resolve(first.release()), end: () => {} });
  });
  await read(await pooled.get(server.url, { headers: {} }));
  expect(server.countConnections()).toBe(1);
});

test("a closed transport refuses requests", async () => {
  const closed = createTransport();
  closed.close();
  await expect(closed.get("http://127.0.0.1:1/", { headers: {} })).rejects.toMatchObject({
    failure: "closed",
  });
});

test("a request keeps the process alive until its reply is read, an idle connection does not", async () => {
  const held: (() => void)[] = [];
  const server = await serving(
    startRawServer((socket) => {
      held.push(() => socket.write(ok));
    }),
  );
  const pooled = transport();
  const countSockets = () =>
    process.getActiveResourcesInfo().filter((resource) => resource === "TCPSocketWrap").length;
  const answer = async (replying: Promise<TransportReply>) => {
    while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const busy = countSockets();
    held.shift()?.();
    await read(await replying);
    return busy - countSockets();
  };
  expect(await answer(pooled.get(server.url, { headers: {} }))).toBe(1);
  expect(await answer(pooled.get(server.url, { headers: {} }))).toBe(1);
});

test.each(["with its reply", "later"])(
  "what a server sends %s without being asked closes the connection and answers nobody",
  async (when) => {
    const surplus = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil";
    const closed = Promise.withResolvers<void>();
    const sockets: net.Socket[] = [];
    const server = await serving(
      startRawServer((socket) => {
        sockets.push(socket);
        socket.once("close", () => closed.resolve());
        socket.write(when === "later" ? ok : ok + surplus);
      }),
    );
    const pooled = transport();
    for (let round = 0; round < 2; round++) {
      expect(await read(await pooled.get(server.url, { headers: {} }))).toEqual({
        text: "ok",
        error: undefined,
      });
      if (round === 0 && when === "later") sockets[0]?.write(surplus);
      if (round === 0) await closed.promise;
    }
    expect(new Set(sockets).size).toBe(2);
  },
);

test("a connection that the server wants closed is not used again, even if it stays open", async () => {
  const server = await startCounting((socket) =>
    socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"),
  );
  const pooled = transport();
  for (let round = 0; round < 2; round++) await read(await pooled.get(server.url, { headers: {} }));
  expect(server.countConnections()).toBe(2);
});

test("a request whose answer had begun is not sent again, however the connection ends", async () => {
  let requests = 0;
  const server = await serving(
    startRawServer((socket) => {
      if (++requests === 1) socket.write(ok);
      else socket.end("HTTP/1.1 2");
    }),
  );
  const pooled = transport();
  await read(await pooled.get(server.url, { headers: {} }));
  await expect(pooled.post(server.url, { headers: {}, body: "2" })).rejects.toMatchObject({
    failure: "reset",
  });
  expect(requests).toBe(2);
});

test("an idle connection is kept no longer than the server says, nor more of them than are wanted", async () => {
  const server = await startCounting((socket) =>
    socket.write("HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok"),
  );
  const pooled = transport();
  for (let round = 0; round < 2; round++) await read(await pooled.get(server.url, { headers: {} }));
  expect(server.countConnections()).toBe(2);
  const keepsNone = transport({ maxFreeSockets: 0 });
  for (let round = 0; round < 2; round++) await read(await keepsNone.get(server.url, { headers: {} }));
  expect(server.countConnections()).toBe(4);
});

test("closing ends requests that wait for a connection, for its opening and for their answer", async () => {
  const asked = Promise.withResolvers<void>();
  const server = await serving(startRawServer(() => asked.resolve()));
  const pooled = transport({ maxSockets: 1 });
  const first = pooled.get(server.url, { headers: {} });
  const second = pooled.get(server.url, { headers: {} });
  await asked.promise;
  const opening = pooled.get(server.url.replace("127.0.0.1", "127.0.0.2"), { headers: {} });
  const ended = Promise.allSettled([first, second, opening]);
  pooled.close();
  expect((await ended).map((end) => end.status === "rejected" && end.reason.failure)).toEqual([
    "closed",
    "closed",
    "closed",
  ]);
});

test("a request that is cancelled while it waits for a connection leaves its place to the next", async () => {
  const held: net.Socket[] = [];
  const server = await serving(startRawServer((socket) => held.push(socket)));
  const pooled = transport({ maxSockets: 1 });
  const first = pooled.get(server.url, { headers: {} });
  const controller = new AbortController();
  const second = pooled.get(server.url, { headers: {}, signal: controller.signal });
  const third = pooled.get(server.url, { headers: {} });
  controller.abort();
  await expect(second).rejects.toMatchObject({ failure: "aborted" });
  for (const replying of [first, third]) {
    while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
    held.shift()?.write(ok);
    await read(await replying);
  }
});

test("a body that has come before it is read is there, whole and unchanged", async () => {
  const server = await serving(
    startRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc");
      setImmediate(() => socket.write("def"));
    }),
  );
  const pooled = transport();
  const early = await pooled.get(server.url, { headers: {} });
  await read(await pooled.get(server.url, { headers: {} }));
  expect(await read(early)).toEqual({ text: "abcdef", error: undefined });
});

test("a body without framing is cut, not whole, where the connection breaks", async () => {
  const server = await serving(
    startRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\nhalf", () => socket.resetAndDestroy());
    }),
  );
  const reply = await transport().get(server.url, { headers: {} });
  expect((await read(reply)).error).toMatchObject({ failure: "reset" });
});

test("a connection that was held back when its reply ended serves the next request", async () => {
  const server = await startCounting();
  const pooled = transport();
  const held = await pooled.get(server.url, { headers: {} });
  await new Promise<void>((resolve) => {
    held.read({ chunk: () => held.pause(), end: () => resolve() });
  });
  expect(await read(await pooled.get(server.url, { headers: {} }))).toEqual({ text: "ok", error: undefined });
  expect(server.countConnections()).toBe(1);
});

test("a connection that was idle for too long is not used, even before it is cleared away", async () => {
  const server = await startCounting();
  const pooled = transport({ idleTimeoutMs: 0.001 });
  for (let round = 0; round < 2; round++) await read(await pooled.get(server.url, { headers: {} }));
  expect(server.countConnections()).toBe(2);
});

test("requests that wait for a connection get their turn when one breaks or cannot be opened", async () => {
  const broken = await serving(startRawServer((socket) => socket.resetAndDestroy()));
  const closed = await startServer(() => {});
  await closed.close();
  const pooled = transport({ maxSockets: 1 });
  for (const [url, failure] of [
    [broken.url, "reset"],
    [closed.url, "refused"],
  ] as const) {
    const ended = await Promise.allSettled([1, 2, 3].map(() => pooled.get(url, { headers: {} })));
    expect(ended.map((end) => end.status === "rejected" && end.reason.failure)).toEqual(
      Array(3).fill(failure),
    );
  }
});

test("a header of the caller replaces one of the transport or of another spelling, so that none is sent twice", async () => {
  const received = Promise.withResolvers<string>();
  const raw = net.createServer((socket) => {
    socket.once("data", (bytes) => {
      received.resolve(bytes.toString());
      socket.end(ok);
    });
  });
  raw.listen(0, "127.0.0.1");
  await once(raw, "listening");
  cleanUps.push(() => raw.close());
  const { port } = raw.address() as AddressInfo;
  const headers = {
    authorization: "Bearer usual",
    "content-type": "application/json",
    Authorization: "Bearer own",
    Host: "gateway.example",
    "Accept-Encoding": "br",
  };
  await read(await transport().post(`http://me:pw@127.0.0.1:${port}/`, { headers, body: "{}" }));
  const lines = (await received.promise).split("\r\n").slice(1, -2).sort();
  expect(lines).toEqual([
    "Accept-Encoding: br",
    "Authorization: Bearer own",
    "Host: gateway.example",
    "connection: keep-alive",
    "content-length: 2",
    "content-type: application/json",
  ]);
});

test.each(["Content-Length", "transfer-encoding"])("the header %s cannot be given", async (name) => {
  await expect(
    transport().post("http://127.0.0.1:1/", { headers: { [name]: "1" }, body: "12" }),
  ).rejects.toMatchObject({ failure: "other", message: expect.stringContaining(name) });
});

test("a request that the server has answered for the time being is not sent again", async () => {
  let requests = 0;
  const server = await serving(
    startRawServer((socket) => {
      if (++requests === 1) socket.write(ok);
      else socket.write("HTTP/1.1 102 Processing\r\n\r\n", () => socket.end());
    }),
  );
  const pooled = transport();
  await read(await pooled.get(server.url, { headers: {} }));
  await expect(pooled.post(server.url, { headers: {}, body: "2" })).rejects.toMatchObject({
    failure: "reset",
  });
  expect(requests).toBe(2);
});

test("a connection whose request was answered before all of it was sent serves no other", async () => {
  const sockets: net.Socket[] = [];
  const listener = net.createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.once("readable", () => {
      socket.read(1);
      socket.write(ok);
    });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
  const pooled = transport({ maxSockets: 1 });
  for (const body of ["x".repeat(32 * 1024 * 1024), "small"])
    expect(await read(await pooled.post(url, { headers: {}, body }))).toEqual({
      text: "ok",
      error: undefined,
    });
  expect(sockets).toHaveLength(2);
});

test("an answer without framing is whole when the server closes, though the request was not sent whole", async () => {
  const listener = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    cleanUps.push(() => socket.destroy());
    socket.once("readable", () => {
      socket.read(1);
      socket.end("HTTP/1.0 413 Too Large\r\n\r\ntoo large");
    });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  cleanUps.push(() => listener.close());
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
  const reply = await transport().post(url, { headers: {}, body: "x".repeat(32 * 1024 * 1024) });
  expect(await read(reply)).toEqual({ text: "too large", error: undefined });
});

/** Calls back once, at the moment at which one of these sockets does something. */
function onceAt(
  name: "destroy" | "emit" | "pause",
  isMoment: (args: unknown[]) => boolean,
  then: () => void,
): void {
  const original: (...args: never[]) => unknown = net.Socket.prototype[name];
  const spy = vi.spyOn(net.Socket.prototype, name).mockImplementation(function (
    this: net.Socket,
    ...args: unknown[]
  ) {
    const result = Reflect.apply(original, this, args);
    if (isMoment(args)) {
      spy.mockRestore();
      then();
    }
    return result as never;
  });
  cleanUps.push(() => spy.mockRestore());
}

test("a request that starts while an idle connection is being closed gets another one", async () => {
  const sockets: net.Socket[] = [];
  const server = await serving(
    startRawServer((socket) => {
      sockets.push(socket);
      socket.write(ok);
    }),
  );
  const pooled = transport();
  await read(await pooled.get(server.url, { headers: {} }));
  const started = Promise.withResolvers<TransportReply>();
  onceAt(
    "destroy",
    () => true,
    () => started.resolve(pooled.get(server.url, { headers: {} })),
  );
  sockets[0]?.write("surplus");
  expect(await read(await started.promise)).toEqual({ text: "ok", error: undefined });
  expect(new Set(sockets).size).toBe(2);
});

test("a closed transport sends nothing again", async () => {
  let requests = 0;
  const server = await serving(
    startRawServer((socket) => {
      if (++requests === 2) socket.resetAndDestroy();
      else socket.write(ok);
    }),
  );
  const pooled = transport();
  await read(await pooled.get(server.url, { headers: {} }));
  onceAt(
    "emit",
    ([event]) => event === "error",
    () => pooled.close(),
  );
  await expect(pooled.get(server.url, { headers: {} })).rejects.toMatchObject({ failure: "closed" });
  expect(requests).toBe(2);
});

test("the sender of a reply that nobody reads yet is held back, and nothing of it is lost", async () => {
  const size = 8 * 1024 * 1024;
  const server = await serving(
    startRawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n${"x".repeat(size)}`);
    }),
  );
  const held = Promise.withResolvers<void>();
  onceAt("pause", () => true, held.resolve);
  const reply = await transport().get(server.url, { headers: {} });
  await held.promise;
  expect((await read(reply)).text.length).toBe(size);
});

test.skipIf(process.platform !== "linux")(
  "a connection on which nothing comes is probed after seconds, not after the two hours of the system",
  async () => {
    const asked = Promise.withResolvers<void>();
    const server = await serving(startRawServer(() => asked.resolve()));
    transport()
      .get(server.url, { headers: {} })
      .catch(() => {});
    await asked.promise;
    const port = Number(new URL(server.url).port).toString(16).toUpperCase().padStart(4, "0");
    const rows = readFileSync("/proc/net/tcp", "utf8").split("\n");
    const timers = rows
      .map((row) => row.trim().split(/\s+/))
      .filter(([, , remote = ""]) => remote.endsWith(`:${port}`))
      .map(([, , , , , timer = ""]) => timer.split(":").map((part) => Number.parseInt(part, 16)));
    expect(timers).toHaveLength(1);
    const [kind = 0, ticks = Infinity] = timers[0] ?? [];
    expect(kind).toBe(2);
    expect(ticks).toBeLessThanOrEqual(15 * 100);
  },
);
