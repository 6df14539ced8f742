import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import { tryTo } from "@retinue/core/schema/error";
import type { HostPlaces } from "@retinue/core/tools/tool";

/** What programs need of the machine: folders to show them, read-only, and where they are looked for. */
export type ProgramFolders = {
  /** The system's. */
  readonly folders: readonly string[];
  /** The person's: a folder of programs, and the installation around it. */
  readonly installations: readonly { readonly bin: string; readonly around: string }[];
  /** Links at the root, such as /bin, with their targets. */
  readonly links: readonly (readonly [path: string, target: string])[];
  /** Files and folders of /etc. */
  readonly etc: readonly string[];
  readonly path: string;
  /** Paths that no command may see, wherever they lie. */
  readonly secrets: readonly string[];
};

const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];
const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";

/** The parts of /etc that programs read and that hold no secrets. */
const ETC = (
  "alternatives bash.bashrc ca-certificates ca-certificates.conf crypto-policies debian_version fonts gai.conf " +
  "group host.conf hosts inputrc ld.so.cache ld.so.conf ld.so.conf.d locale.alias locale.conf localtime lsb-release " +
  "magic manpath.config mime.types mke2fs.conf nsswitch.conf os-release passwd perl pki/ca-trust pki/tls/certs " +
  "pki/tls/cert.pem pki/tls/openssl.cnf protocols redhat-release resolv.conf rpc services shells ssl/certs " +
  "ssl/cert.pem ssl/openssl.cnf static terminfo timezone xattr.conf zoneinfo"
).split(" ");
const ETC_BEGINNINGS = ["java", "jvm", "maven", "php", "python"];

/** Below a home: what holds keys, tokens and histories, also where a toolchain keeps them among its files. */
const SECRET_AT_HOME = (
  ".ssh .aws .azure .config .gnupg .kube .docker .netrc .npmrc .pypirc .pgpass .my.cnf .boto .vault-token .oci " +
  ".terraform.d .password-store .mozilla .git-credentials .gitconfig .bash_history .zsh_history .node_repl_history " +
  ".psql_history .python_history .claude .claude.json .codex .gemini .copilot .local/share .cargo/credentials " +
  ".cargo/credentials.toml .m2/settings.xml .gradle/gradle.properties .gem/credentials .bundle/config " +
  ".composer/auth.json .android .gcloud .sops .minikube .databrickscfg .snowflake .rclone.conf"
).split(" ");

/** Where a folder of programs lies elsewhere than what they need. */
const NEEDED_BY: Readonly<Record<string, readonly string[]>> = {
  ".cargo/bin": [".rustup", ".cargo/registry", ".cargo/git"],
};

const known = new WeakMap<HostPlaces, ProgramFolders>();

/** What the system and the person's PATH have to offer; looked for once. */
export function findProgramFolders(places: HostPlaces): ProgramFolders {
  const found = known.get(places) ?? findPrograms(places);
  known.set(places, found);
  return found;
}

function listSecrets({ homeDir, dataDir, configDir }: HostPlaces): string[] {
  return [...SECRET_AT_HOME.map((path) => join(homeDir, path)), dataDir, configDir].map(realOrSame);
}

function findPrograms(places: HostPlaces): ProgramFolders {
  const secrets = listSecrets(places);
  const system = SYSTEM.filter((path) => existsSync(path));
  const links = system.flatMap((path) => {
    const target = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
    return target === undefined ? [] : [[path, target] as const];
  });
  const linked = new Set(links.map(([path]) => path));
  const folders = new Set(system.filter((path) => !linked.has(path)));
  const installations: ProgramFolders["installations"][number][] = [];
  const path = new Set<string>();
  for (const entry of [...(places.env.PATH || USUAL_PATH).split(":"), dirname(process.execPath)]) {
    const place = isAbsolute(entry) ? tryTo(() => realpathSync(entry)) : undefined;
    if (!place || !tryTo(() => statSync(place).isDirectory())) continue;
    const shown = [...folders].some((folder) => isBelow(place, folder));
    const installation = shown ? [] : findInstallation(place, realOrSame(places.homeDir), secrets);
    if (!shown && installation.length === 0) continue;
    path.add(place);
    const [around = place, ...needed] = installation;
    if (!shown) installations.push({ bin: place, around });
    installations.push(...needed.map((folder) => ({ bin: folder, around: folder })));
  }
  return { folders: [...folders], installations, links, etc: findEtc(), path: [...path].join(":"), secrets };
}

/** The folder around a `bin`, unless that would show more than programs; then the `bin` alone; or nothing. */
function findInstallation(bin: string, home: string, secrets: readonly string[]): string[] {
  const around = /^(s?bin|shims|scripts)$/i.test(basename(bin)) ? dirname(bin) : bin;
  const folder = [around, bin].find((candidate) => isShowable(candidate, home, secrets));
  if (folder === undefined) return [];
  const needed = Object.entries(NEEDED_BY).flatMap(([name, others]) =>
    bin === join(home, name)
      ? others.map((other) => join(home, other)).filter((path) => existsSync(path))
      : [],
  );
  return [folder, ...needed];
}

function isShowable(folder: string, home: string, secrets: readonly string[]): boolean {
  if (folder.split("/").length < 3) return false;
  if (isBelow(home, folder)) return false;
  if (/^\/(home|Users)\/|^\/root(\/|$)/.test(folder) && !isBelow(folder, home)) return false;
  if (/^\/(run|proc|sys|dev|etc)(\/|$)/.test(folder)) return false;
  return secrets.every((secret) => {
    // What lies in ~/.local/share is shown only by its own folder, such as a version manager's.
    const inData =
      secret === join(home, ".local/share") && folder.split("/").length > secret.split("/").length;
    return !isBelow(secret, folder) && (inData || !isBelow(folder, secret));
  });
}

function findEtc(): string[] {
  const more = readdirSync("/etc").filter((name) => ETC_BEGINNINGS.some((each) => name.startsWith(each)));
  return [...ETC, ...more].map((name) => `/etc/${name}`).filter((path) => existsSync(path));
}

function realOrSame(path: string): string {
  return tryTo(() => realpathSync(path)) ?? path;
}
