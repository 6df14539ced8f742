import type { Socket } from "node:net";
import { TransportError } from "../schema/transport.ts";
import type { OpenSocket } from "./open-socket.ts";
import {
  MalformedResponse,
  type ResponseEvents,
  type ResponseHeaders,
  ResponseParser,
} from "./response-parser.ts";
import { readTransportError } from "./transport-error.ts";

/** Who waits for the response on a connection. */
export type Receiver = {
  onHead(status: number, headers: ResponseHeaders): void;
  onBody(bytes: Buffer): void;
  /** The response is over; without an error it is whole. */
  onEnd(error?: TransportError): void;
};

/** Told when a connection has served a response or is gone. */
export type ConnectionOwner = {
  /** It may serve another request, for so many milliseconds if the server said. */
  onIdle(connection: Connection, hintMs: number | undefined): void;
  /**
   * It is gone. `receiver` still waits for its response; `isStale` says that the server had closed the connection before it
   * saw the request, so that sending it again repeats nothing.
   */
  onGone(
    connection: Connection,
    left: { receiver: Receiver; error: TransportError; isStale: boolean } | null,
  ): void;
};

/** An open connection to a server, with one request on its way at the most. */
export class Connection implements ResponseEvents {
  /** Milliseconds on the monotonic clock after which it is not used again. */
  idleUntilMs = 0;
  readonly #socket: Socket;
  readonly #host: string;
  readonly #owner: ConnectionOwner;
  readonly #parser = new ResponseParser(this);
  #receiver: Receiver | null = null;
  #served = 0;
  #error: TransportError | null = null;
  /** What the response that is just over said about another request. */
  #ended: { keepAlive: boolean; hintMs: number | undefined } | null = null;

  constructor(opened: OpenSocket, host: string, owner: ConnectionOwner) {
    const { socket } = opened;
    this.#socket = socket;
    this.#host = host;
    this.#owner = owner;
    opened.take = (bytes) => this.#onBytes(bytes);
    socket.on("error", (error) => {
      this.#error ??= readTransportError(error, host);
    });
    socket.once("end", () => this.#onEof());
    socket.once("close", () => this.#onClose());
  }

  /** It has served a request before. */
  get isUsed(): boolean {
    return this.#served > 0;
  }

  /** It can take a request; one that is being closed cannot. */
  get isOpen(): boolean {
    return this.#error === null && this.#socket.writable;
  }

  /** Sends a request whose text is complete. */
  send(receiver: Receiver, method: string, text: string): void {
    this.#receiver = receiver;
    this.#parser.expect(method);
    this.#socket.ref();
    this.#socket.write(text);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Closes it at once; who waits for a response gets this error. */
  destroy(error: TransportError): void {
    this.#error ??= error;
    this.#socket.destroy();
  }

  /** Lets the process end although this connection is open. */
  rest(): void {
    this.#socket.unref();
  }

  onHead(status: number, headers: ResponseHeaders): void {
    this.#receiver?.onHead(status, headers);
  }

  onBody(bytes: Buffer): void {
    this.#receiver?.onBody(bytes);
  }

  onEnd(keepAlive: boolean, hintMs: number | undefined): void {
    this.#ended = { keepAlive, hintMs };
  }

  #onBytes(bytes: Buffer): void {
    if (this.#error) return;
    try {
      this.#parser.push(bytes);
    } catch (thrown) {
      if (!(thrown instanceof MalformedResponse)) throw thrown;
      // A whole response is one, whatever came behind it; only the connection is of no more use.
      if (this.#ended) this.#ended.keepAlive = false;
      else
        this.destroy(
          new TransportError(
            "protocol",
            this.#host,
            `${this.#host} did not answer in HTTP: ${thrown.message}`,
          ),
        );
    }
    this.#finish();
  }

  /** Only once all bytes are read: what follows a response on the same connection must not be taken for the next one. */
  #finish(): void {
    const ended = this.#ended;
    if (!ended) return;
    this.#ended = null;
    const receiver = this.#receiver;
    this.#receiver = null;
    this.#served++;
    // A server that answers before it has the whole request may never read the rest of it.
    const isSent = this.#socket.writableLength === 0;
    if (!ended.keepAlive || !isSent || this.#error) this.#socket.destroy();
    else {
      this.#socket.resume();
      this.#owner.onIdle(this, ended.hintMs);
    }
    receiver?.onEnd();
  }

  /** Without waiting for the rest of the request to be sent, which fails where the server has closed already. */
  #onEof(): void {
    const isWhole = this.#error === null && this.#parser.close();
    if (isWhole) this.#finish();
  }

  #onClose(): void {
    const receiver = this.#receiver;
    this.#receiver = null;
    const isStale = this.#served > 0 && !this.#parser.hasBegun && isReset(this.#error);
    const error =
      this.#error ?? new TransportError("reset", this.#host, `${this.#host} closed the connection`);
    this.#owner.onGone(this, receiver && { receiver, error, isStale });
  }
}

function isReset(error: TransportError | null): boolean {
  return error === null || error.failure === "reset";
}
