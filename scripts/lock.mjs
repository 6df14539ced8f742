// Completes package-lock.json after a change of dependencies. npm records a platform's optional package only where it
// could look it up, and `npm ci` then refuses the lock as incomplete; an entry with its platform is enough for both.
import { readFileSync, writeFileSync } from "node:fs";

const SYSTEMS = /^(?:aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)$/;
const PROCESSORS = /^(?:arm64|x64|ia32|arm|ppc64|s390x|riscv64|loong64|mips64el|wasm32)$/;

const path = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8"));
const added = [];
for (const holder of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(holder.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    const known = lock.packages[key];
    if (known?.integrity) continue;
    lock.packages[key] = { version, ...findPlatform(name), ...(holder.dev && { dev: true }), optional: true };
    if (!known) added.push(name);
  }
}
const entries = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
lock.packages = Object.fromEntries(entries);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length > 0 ? `added ${added.length}: ${added.join(", ")}` : "nothing was missing");

function findPlatform(name) {
  const words = name.split(/[/-]/);
  const cpu = words.find((word) => PROCESSORS.test(word));
  const os = words.find((word) => SYSTEMS.test(word));
  const libc = words.includes("musl")
    ? "musl"
    : words.includes("gnu") || words.includes("gnueabihf")
      ? "glibc"
      : undefined;
  return {
    ...(cpu && { cpu: [cpu] }),
    ...(libc && os === "linux" && { libc: [libc] }),
    ...(os && { os: [os] }),
  };
}
