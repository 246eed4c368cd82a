import { createRequire } from "node:module";
import { expect } from "chai";
import fc from "fast-check";
import { type Ecdsa, fastEcdsa } from "../../examples/standalone/chain/crypto-backend.js";

/** What `bcrypto` does itself: its own methods, which are those of its class. */
const inJavaScript = createRequire(import.meta.url)("bcrypto/lib/js/secp256k1") as Ecdsa;
const own = Object.getPrototypeOf(inJavaScript) as Ecdsa;
const slowEcdsa: Ecdsa = {
  publicKeyCreate: (...given) => own.publicKeyCreate.apply(inJavaScript, given),
  sign: (...given) => own.sign.apply(inJavaScript, given),
  verify: (...given) => own.verify.apply(inJavaScript, given),
  schnorrSign: (...given) => own.schnorrSign.apply(inJavaScript, given),
  schnorrVerify: (...given) => own.schnorrVerify.apply(inJavaScript, given),
};

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const bytes = (number: bigint): Buffer => Buffer.from(number.toString(16).padStart(64, "0"), "hex");
const numbers = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });
const hashes = numbers.map(bytes);
const privateKeys = fc.oneof(fc.bigInt({ min: 1n, max: order - 1n }), fc.constantFrom(1n, 2n, order - 1n)).map(bytes);

describe("the example host's keys and signatures", () => {
  it("are those of bcrypto, to the last byte", () => {
    const run = fc.property(privateKeys, hashes, fc.boolean(), (privateKey, hash, isCompressed) => {
      const publicKey = fastEcdsa.publicKeyCreate(privateKey, isCompressed);
      expect(publicKey).to.deep.equal(slowEcdsa.publicKeyCreate(privateKey, isCompressed));
      const signature = fastEcdsa.sign(hash, privateKey);
      expect(signature).to.deep.equal(slowEcdsa.sign(hash, privateKey));
      expect(fastEcdsa.verify(hash, signature, publicKey)).to.equal(true);
    });
    fc.assert(run, { numRuns: 25 });
  });

  it("are verified as bcrypto does: changed ones, high ones, what is no number of the curve, what is no key", () => {
    const changes = fc.record({ at: fc.nat(63), by: fc.integer({ min: 1, max: 255 }) });
    const run = fc.property(privateKeys, hashes, hashes, changes, (privateKey, hash, other, { at, by }) => {
      const publicKey = fastEcdsa.publicKeyCreate(privateKey);
      const signature = fastEcdsa.sign(hash, privateKey);
      const changed = Buffer.from(signature);
      changed[at] = (changed[at] ?? 0) ^ by;
      const high = Buffer.concat([signature.subarray(0, 32), bytes(order - BigInt(`0x${signature.toString("hex", 32)}`))]);
      const noSignatures = [Buffer.alloc(64), Buffer.alloc(64, 0xff), signature.subarray(1)];
      for (const given of [signature, changed, high, ...noSignatures]) {
        for (const signed of [hash, other]) expect(fastEcdsa.verify(signed, given, publicKey)).to.equal(slowEcdsa.verify(signed, given, publicKey));
      }
      expect(fastEcdsa.verify(hash, high, publicKey)).to.equal(true);
      for (const noKey of [Buffer.alloc(33), publicKey.subarray(1), Buffer.concat([Buffer.of(2), Buffer.alloc(32, 0xff)])]) {
        expect([fastEcdsa.verify(hash, signature, noKey), slowEcdsa.verify(hash, signature, noKey)]).to.deep.equal([false, false]);
      }
    });
    fc.assert(run, { numRuns: 10 });
  });

  it("are those of bcrypto in the chain's first Schnorr scheme, to the last byte, and verified as it does", () => {
    const changes = fc.record({ at: fc.nat(63), by: fc.integer({ min: 1, max: 255 }) });
    const run = fc.property(privateKeys, hashes, hashes, changes, (privateKey, hash, other, { at, by }) => {
      const publicKey = fastEcdsa.publicKeyCreate(privateKey);
      const signature = fastEcdsa.schnorrSign(hash, privateKey);
      expect(signature).to.deep.equal(slowEcdsa.schnorrSign(hash, privateKey));
      expect(fastEcdsa.schnorrVerify(hash, signature, publicKey)).to.equal(true);
      const changed = Buffer.from(signature);
      changed[at] = (changed[at] ?? 0) ^ by;
      const otherSign = Buffer.concat([signature.subarray(0, 32), bytes(order - BigInt(`0x${signature.toString("hex", 32)}`))]);
      const beyond = Buffer.concat([signature.subarray(0, 32), bytes(order)]);
      const zero = Buffer.concat([signature.subarray(0, 32), Buffer.alloc(32)]);
      const noSignatures = [Buffer.alloc(64), Buffer.alloc(64, 0xff), signature.subarray(1)];
      const keys = [publicKey, Buffer.alloc(33), publicKey.subarray(1), Buffer.concat([Buffer.of(publicKey[0] === 2 ? 3 : 2), publicKey.subarray(1)])];
      for (const given of [signature, changed, otherSign, beyond, zero, ...noSignatures]) {
        for (const key of keys) for (const signed of [hash, other]) expect(fastEcdsa.schnorrVerify(signed, given, key)).to.equal(slowEcdsa.schnorrVerify(signed, given, key));
      }
    });
    fc.assert(run, { numRuns: 10 });
  });

  it("are refused for what is no private key", () => {
    for (const number of [0n, order, order + 1n]) {
      for (const ecdsa of [fastEcdsa, slowEcdsa]) {
        expect(() => ecdsa.publicKeyCreate(bytes(number))).to.throw();
        expect(() => ecdsa.sign(Buffer.alloc(32, 1), bytes(number))).to.throw();
        expect(() => ecdsa.schnorrSign(Buffer.alloc(32, 1), bytes(number))).to.throw();
      }
    }
  });
});
