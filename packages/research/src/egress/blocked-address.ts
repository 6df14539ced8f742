import { networkInterfaces } from "node:os";

/** Says why an address must not be connected to; null if it may. */
export type AddressGuard = (address: string) => string | null;

type Ipaddr = typeof import("ipaddr.js");
type Address = ReturnType<Ipaddr["parse"]>;
type IPv6 = InstanceType<Ipaddr["IPv6"]>;

/** Public by their number, yet services for the machine inside a cloud. */
const METADATA: ReadonlySet<string> = new Set(["168.63.129.16"]);

/**
 * Loads the guard that lets only addresses of the public internet through: no private, loopback, link-local (where cloud
 * metadata lives), shared, multicast, reserved or unassigned ones, and no address of this machine.
 */
export async function loadAddressGuard(): Promise<AddressGuard> {
  const { default: ipaddr } = await import("ipaddr.js");
  return (address) => {
    if (!ipaddr.isValid(address)) return "is not an IP address";
    const parsed = ipaddr.parse(address);
    return explainBlocked(parsed, ipaddr) ?? (isOwn(parsed, ipaddr) ? "is an address of this machine" : null);
  };
}

function explainBlocked(address: Address, ipaddr: Ipaddr): string | null {
  if ("octets" in address) {
    if (METADATA.has(address.toString())) return "is not a public address (metadata)";
    const range = address.range();
    return range === "unicast" ? null : `is not a public address (${range})`;
  }
  const inner = findEmbedded(address, ipaddr);
  const innerReason = inner && explainBlocked(inner, ipaddr);
  if (innerReason) return `stands for ${inner}, which ${innerReason}`;
  if (isNat64(address)) return null;
  const range = address.range();
  if (range !== "unicast") return `is not a public address (${range})`;
  return ((address.parts[0] ?? 0) & 0xe000) === 0x2000 ? null : "is not a public address (unassigned)";
}

/** The well-known prefix behind which hosts without IPv4 reach the public internet. */
function isNat64({ parts: [a, b, ...rest] }: IPv6): boolean {
  return a === 0x64 && b === 0xff9b && rest.slice(0, 4).every((part) => part === 0);
}

/** The IPv4 address that a gateway would contact for this one. Further embeddings are refused by their range. */
function findEmbedded(address: IPv6, ipaddr: Ipaddr): Address | null {
  const [, , , , e, f, high = 0, low = 0] = address.parts;
  const isIsatap = (e === 0 || e === 0x200) && f === 0x5efe;
  if (!isNat64(address) && !isIsatap) return null;
  return new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255]);
}

function isOwn(address: Address, ipaddr: Ipaddr): boolean {
  const text = address.toNormalizedString();
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .some((entry) => ipaddr.parse(entry.address).toNormalizedString() === text);
}
