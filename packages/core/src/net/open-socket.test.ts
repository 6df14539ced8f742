import { once } from "node:events";
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import tls from "node:tls";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { TransportReply } from "../schema/transport.ts";
import { createTransport } from "./transport.ts";

/** A key with a certificate for `localhost` that it signed itself. */
const PEM = readFileSync(new URL("../../../../test/fixtures/tls/localhost.pem", import.meta.url), "utf8");
const usual = tls.getCACertificates("default");
beforeAll(() => tls.setDefaultCACertificates([...usual, PEM]));
afterAll(() => tls.setDefaultCACertificates(usual));

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Listens on a free port; connections end with the test. */
async function listen(server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket: net.Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const answer: http.RequestListener = (request, response) => {
  response.end(`${request.method} ${request.url} for ${request.headers.host}`);
};

const startTlsServer = () => listen(https.createServer({ key: PEM, cert: PEM }, answer));

/** A proxy that forwards requests and opens tunnels, and lists what it was asked for. */
async function startProxy(
  options: { login?: string; isSecure?: boolean } = {},
): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = [];
  const isAllowed = (request: http.IncomingMessage) =>
    options.login === undefined || request.headers["proxy-authorization"] === options.login;
  const forward: http.RequestListener = (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (!isAllowed(request)) return response.writeHead(407).end();
    const { host } = request.headers;
    return http.get(request.url ?? "", { headers: { host } }, (from) => from.pipe(response));
  };
  const server = options.isSecure
    ? https.createServer({ key: PEM, cert: PEM }, forward)
    : http.createServer(forward);
  server.on("connect", (request: http.IncomingMessage, socket: net.Socket) => {
    asked.push(`CONNECT ${request.url}`);
    if (!isAllowed(request)) return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const to = net.connect(Number(request.url?.split(":").at(-1)), "localhost", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(to).pipe(socket);
    });
    to.on("error", () => socket.destroy());
    return to;
  });
  return { port: await listen(server), asked };
}

async function get(url: string, proxyEnv: NodeJS.ProcessEnv = {}): Promise<string> {
  const transport = createTransport({ proxyEnv });
  cleanUps.push(() => transport.close());
  const reply = await transport.get(url, { headers: {} });
  return `${reply.status} ${await reply.text(1_000)}`;
}

test("a server with a certificate of its name is spoken to over TLS, the next connection with the session of the first", async () => {
  const port = await startTlsServer();
  for (let connection = 0; connection < 2; connection++)
    expect(await get(`https://localhost:${port}/a?b`)).toBe(`200 GET /a?b for localhost:${port}`);
});

test("a certificate for another name is refused before anything is sent", async () => {
  const port = await startTlsServer();
  await expect(get(`https://127.0.0.1:${port}/`)).rejects.toMatchObject({ failure: "tls" });
});

test("a certificate that nobody trusts is refused", async () => {
  const port = await startTlsServer();
  tls.setDefaultCACertificates(usual);
  try {
    await expect(get(`https://localhost:${port}/`)).rejects.toMatchObject({ failure: "tls" });
  } finally {
    tls.setDefaultCACertificates([...usual, PEM]);
  }
});

test.each([false, true])(
  "a proxy gets the whole address of a plain request (over TLS: %s)",
  async (isSecure) => {
    const port = await listen(http.createServer(answer));
    const proxy = await startProxy({ isSecure, login: `Basic ${btoa("me:p@ss")}` });
    const address = `${isSecure ? "https" : "http"}://me:p%40ss@localhost:${proxy.port}`;
    const url = `http://localhost:${port}/a?b`;
    expect(await get(url, { http_proxy: address })).toBe(`200 GET /a?b for localhost:${port}`);
    expect(proxy.asked).toEqual([`GET ${url}`]);
  },
);

test.each([false, true])("TLS goes through a tunnel of the proxy (over TLS: %s)", async (isSecure) => {
  const port = await startTlsServer();
  const proxy = await startProxy({ isSecure, login: `Basic ${btoa("me:p@ss")}` });
  const address = `${isSecure ? "https" : "http"}://me:p%40ss@localhost:${proxy.port}`;
  expect(await get(`https://localhost:${port}/`, { HTTPS_PROXY: address })).toBe(
    `200 GET / for localhost:${port}`,
  );
  expect(proxy.asked).toEqual([`CONNECT localhost:${port}`]);
});

test.each([false, true])(
  "the certificate in a tunnel must be for the address that was asked for, not for the proxy (over TLS: %s)",
  async (isSecure) => {
    const port = await startTlsServer();
    const proxy = await startProxy({ isSecure });
    const https_proxy = `${isSecure ? "https" : "http"}://localhost:${proxy.port}`;
    await expect(get(`https://127.0.0.1:${port}/`, { https_proxy })).rejects.toMatchObject({
      failure: "tls",
    });
    expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${port}`]);
  },
);

test("a proxy that does not open the tunnel is named, and nothing is sent to it", async () => {
  const proxy = await startProxy({ login: "Basic other" });
  await expect(get("https://localhost:1/", { https_proxy: `localhost:${proxy.port}` })).rejects.toMatchObject(
    {
      failure: "refused",
      message: `the proxy localhost:${proxy.port} does not let through to localhost:1 (407)`,
    },
  );
});

test("behind a tunnel too a certificate must be for the address that was asked for, not for that of the proxy", async () => {
  const port = await startTlsServer();
  const proxy = await startProxy();
  const asked = get(`https://127.0.0.1:${port}/`, { https_proxy: `http://localhost:${proxy.port}` });
  await expect(asked).rejects.toMatchObject({ failure: "tls" });
  expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${port}`]);
});

test("a proxy that breaks off while TLS begins fails the request as reset", async () => {
  const port = await listen(
    net.createServer((socket) => {
      socket.once("data", () => {
        socket.once("data", () => socket.resetAndDestroy());
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      });
    }),
  );
  const asked = get("https://localhost:1/", { https_proxy: `http://localhost:${port}` });
  await expect(asked).rejects.toMatchObject({ failure: "reset" });
});

test("over TLS too, requests in a row share a connection, and closing it ends a body without framing", async () => {
  let connections = 0;
  const server = tls.createServer({ key: PEM, cert: PEM }, (socket) => {
    connections++;
    let requests = 0;
    socket.on("data", () => {
      if (++requests < 3) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      else socket.end("HTTP/1.1 200 OK\r\n\r\nwhole");
    });
  });
  const url = `https://localhost:${await listen(server)}/`;
  const plain = await startProxy();
  const secure = await startProxy({ isSecure: true });
  const ways = [{}, `http://localhost:${plain.port}`, `https://localhost:${secure.port}`];
  for (const way of ways) {
    const transport = createTransport({ proxyEnv: typeof way === "string" ? { https_proxy: way } : {} });
    cleanUps.push(() => transport.close());
    for (const text of ["ok", "ok", "whole"]) {
      const reply = await transport.get(url, { headers: {} });
      expect(await readWhole(reply)).toBe(text);
    }
  }
  expect(connections).toBe(ways.length);
});

function readWhole(reply: TransportReply): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    reply.read({
      chunk: (bytes) => {
        text += bytes.toString();
      },
      end: (error) => (error ? reject(error) : resolve(text)),
    });
  });
}

test("a TLS session is used again, but not after an attempt that failed", async () => {
  const reused: boolean[] = [];
  const server = https.createServer({ key: PEM, cert: PEM }, answer);
  server.on("secureConnection", (socket) => reused.push(socket.isSessionReused()));
  const port = await listen(server);
  const url = `https://localhost:${port}/`;
  await get(url);
  await get(url);
  server.once("connection", (socket) => socket.destroy());
  await expect(get(url)).rejects.toMatchObject({ failure: "reset" });
  await get(url);
  expect(reused).toEqual([false, true, false]);
});
