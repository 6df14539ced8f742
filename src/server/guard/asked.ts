/** What the guard looks at before anything else reads a request. */
export type Asked = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  /** The request's target as it was sent; undefined where no socket is behind it. */
  readonly target?: string | undefined;
};

/** Whether a request can only have the effect of reading. */
export function isReading({ method }: Pick<Asked, "method">): boolean {
  return method === "GET" || method === "HEAD";
}

/** The one-time token that a link carries, which counts on the first page only. */
export function tokenIn({ method, url }: Asked): string | null {
  return method === "GET" && url.pathname === "/" ? url.searchParams.get("token") : null;
}

/** Whether a target is sent as it is meant: no dots, slashes or characters that are read as others. */
export function isPlainPath({ url, target }: Asked): boolean {
  return target === undefined || target.split(/[?#]/, 1)[0] === url.pathname;
}
