import { networkInterfaces } from "node:os";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { type AddressGuard, loadAddressGuard } from "./egress-guard.ts";

let guard: AddressGuard;
beforeAll(async () => {
  guard = await loadAddressGuard();
});

test.each([
  ["loopback", ["127.0.0.1", "127.255.1.2", "::1"]],
  ["unspecified", ["0.0.0.0", "0.1.2.3", "::"]],
  ["private", ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12::1", "fec0::1"]],
  ["link-local", ["169.254.1.1", "fe80::1", "fe80::1%eth0"]],
  [
    "metadata",
    ["169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "192.0.0.192", "168.63.129.16"],
  ],
  ["shared", ["100.64.0.1", "100.127.255.255"]],
  ["multicast", ["224.0.0.1", "239.255.255.250", "ff02::1"]],
  [
    "reserved",
    ["240.0.0.1", "255.255.255.255", "198.18.0.1", "203.0.113.5", "2001:db8::1", "100::1", "4000::1"],
  ],
  [
    "mapped",
    [
      "::ffff:127.0.0.1",
      "::ffff:10.0.0.1",
      "::ffff:8.8.8.8",
      "::ffff:0:127.0.0.1",
      "::127.0.0.1",
      "::7f00:1",
    ],
  ],
  ["NAT64", ["64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1", "64:ff9b:1::8.8.8.8"]],
  ["6to4", ["2002:7f00:1::", "2002:808:808::1"]],
  ["Teredo", ["2001:0:4136:e378:8000:63bf:3fff:fdd2"]],
  ["ISATAP", ["2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1", "fe80::5efe:8.8.8.8"]],
  ["no address", ["", "localhost", "1.2.3.4.5", "1.2.3.4/8", ":::"]],
])("%s addresses are blocked", (_, addresses) => {
  expect(addresses.filter((address) => guard(address) === null)).toEqual([]);
});

test("public addresses are let through, also behind NAT64", () => {
  const addresses = ["93.184.216.34", "8.8.8.8", "172.32.0.1", "2606:4700:4700::1111", "64:ff9b::8.8.8.8"];
  expect(addresses.map(guard)).toEqual(addresses.map(() => null));
});

test("addresses of this machine are blocked", () => {
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  expect(own.filter(({ address }) => guard(address) === null)).toEqual([]);
});

test("no IPv4 address that is blocked gets through in an IPv6 one", () => {
  const octet = fc.nat(255);
  fc.assert(
    fc.property(fc.tuple(octet, octet, octet, octet), (octets) => {
      const address = octets.join(".");
      const [a = 0, b = 0, c = 0, d = 0] = octets;
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
      fc.pre(guard(address) !== null);
      for (const inner of [`::ffff:${address}`, `::${address}`, `64:ff9b::${address}`, `2002:${hex}::1`]) {
        expect(guard(inner)).not.toBeNull();
      }
    }),
  );
});
