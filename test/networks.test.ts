import { expect } from "chai";
import { addressOf, createNetworks, isNetwork } from "../src/net/addresses.js";

const contains = (network: string, address: string): boolean => {
  const parsed = addressOf(address);
  return parsed !== undefined && createNetworks([network])(parsed);
};

describe("a list of addresses and networks", () => {
  for (const [network, address, expected] of [
    ["10.1.2.3", "10.1.2.3", true],
    ["10.1.2.3", "10.1.2.4", false],
    ["10.0.0.1/8", "10.255.0.9", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["::1", "::1", true],
    ["fd00::/8", "fd12::1", true],
    ["fd00::/8", "10.0.0.1", false],
    ["::ffff:10.0.0.0/104", "10.0.0.5", true],
    ["::ffff:10.0.0.0/104", "11.0.0.5", false],
    ["::ffff:10.0.0.1", "10.0.0.1", true],
    ["10.0.0.1", "::ffff:10.0.0.1", true],
    ["::/0", "10.0.0.1", false],
  ] as const) {
    it(`with ${network} ${expected ? "contains" : "does not contain"} ${address}`, () => {
      expect(isNetwork(network)).to.equal(true);
      expect(contains(network, address)).to.equal(expected);
    });
  }

  for (const wrong of ["localhost", "example.com", "10.0.0.0/33", "10.0.0", "127.1", "10.0/8", "10.0.0.1/", "10.0.0.1/8/8", "1.2.3.4.5", "::/200", "/8", "", "fe80::1%br-lan", "fe80::1%eth0.100/64"]) {
    it(`does not take "${wrong}"`, () => {
      expect(isNetwork(wrong)).to.equal(false);
      expect(() => createNetworks([wrong])).to.throw(TypeError, `"${wrong}" is neither an address nor a network`);
    });
  }
});
