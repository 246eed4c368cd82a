import { expect } from "chai";
import { Identities } from "@arkecosystem/crypto";
import { addressOf, createAddressOf, multiSignaturePublicKey } from "../../src/chain/address.js";
import { actors, secondKeys } from "../../src/conformance/chain/actors.js";

const keys = Array.from({ length: 20 }, (_, index) => Identities.PublicKey.fromPassphrase(`passphrase ${index}`));

const theirAddress = (publicKey: string, pubKeyHash: number): string => Identities.Address.fromPublicKey(publicKey, pubKeyHash);

describe("addresses", () => {
  it("match those of the network's own library, for any version byte", () => {
    for (const pubKeyHash of [1, 23, 30, 90, 255]) {
      for (const key of keys) expect(addressOf(key, pubKeyHash)).to.equal(theirAddress(key, pubKeyHash));
    }
  });

  it("match those of a real chain's wallets", () => {
    expect(addressOf("03287bfebba4c7881a0509717e71b34b63f31e40021c321f89ae04f84be6d6ac37", 23)).to.equal(
      "ANBkoGqWeTSiaEVgVzSKZd3jS7UWzv9PSo",
    );
    for (const { publicKey, address } of Object.values(actors)) expect(addressOf(publicKey, 23)).to.equal(address);
  });

  it("stay correct with more keys than the cache holds", () => {
    const remembering = createAddressOf(23, 3);
    for (const key of [...keys, ...keys.toReversed()]) expect(remembering(key)).to.equal(theirAddress(key, 23));
  });
});

describe("public keys of multisignature wallets", () => {
  it("match those of the network's own library", () => {
    for (const [min, count] of [
      [1, 1],
      [2, 3],
      [10, 16],
      [16, 16],
    ] as const) {
      const publicKeys = keys.slice(0, count);
      expect(multiSignaturePublicKey({ min, publicKeys })).to.equal(
        Identities.PublicKey.fromMultiSignatureAsset({ min, publicKeys }),
      );
    }
  });

  it("match that of a real chain's wallet", () => {
    const publicKeys = [
      "0308def246bf2d7b684ac3adfd5edcea47d87e1c2b53749659ad30357b1d9fa760",
      "03188f9616574123f9af5d241580a1b19a7cf6fc4de865fd4e31a39da241bb6c4b",
      "02967ba60c8a046378cb5944ded643def34988582ab0eb55119941a2aa5af21908",
    ];
    const publicKey = multiSignaturePublicKey({ min: 2, publicKeys });
    expect(publicKey).to.equal("0351fa8b22d07857b53737c823d43477ade65304d0760b8a210b774483b65203fe");
    expect(addressOf(publicKey, 23)).to.equal("AJvpWahNWyszV1V6zW6wx6gmBo7VMsHGwf");
  });

  it("depend on the participants and on how many must sign, not on their order", () => {
    const publicKeys = [actors.ivy.publicKey, actors.joe.publicKey, actors.kim.publicKey];
    expect(multiSignaturePublicKey({ min: 2, publicKeys })).to.equal(actors.council.publicKey);
    expect(multiSignaturePublicKey({ min: 2, publicKeys: publicKeys.toReversed() })).to.equal(actors.council.publicKey);
    expect(multiSignaturePublicKey({ min: 3, publicKeys })).to.not.equal(actors.council.publicKey);
    expect(multiSignaturePublicKey({ min: 2, publicKeys: [...publicKeys, secondKeys.kim] })).to.not.equal(
      actors.council.publicKey,
    );
  });

  it("refuse a key that is not a point on the curve", () => {
    expect(() => multiSignaturePublicKey({ min: 1, publicKeys: [`02${"f".repeat(64)}`] })).to.throw();
  });
});
