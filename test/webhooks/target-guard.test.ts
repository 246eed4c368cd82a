import { expect } from "chai";
import { createTargetGuard } from "../../src/webhooks/send/target-guard.js";

const special = {
  loopback: ["127.0.0.1", "127.255.255.254", "::1"],
  unspecified: ["0.0.0.0", "0.1.2.3", "::"],
  private: ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"],
  "link-local": ["169.254.1.1", "fe80::1", "febf::1", "fec0::1"],
  "carrier-grade NAT": ["100.64.0.1", "100.127.255.255"],
  metadata: ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1"],
  "reserved or for documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "240.0.0.1", "255.255.255.255", "2001:db8::1", "3fff::1", "100::1"],
  "IPv4 in IPv6": ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001:0:4136:e378::1", "::ffff:0:127.0.0.1"],
};
const ordinary = ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "169.253.0.1", "2606:4700:4700::1111", "::ffff:8.8.8.8"];

describe("the target guard", () => {
  const guard = createTargetGuard([]);

  for (const [kind, addresses] of Object.entries(special)) {
    for (const address of addresses) {
      it(`does not connect to ${address} (${kind})`, () => {
        expect(guard.allows(address)).to.equal(false);
      });
    }
  }
  for (const address of ordinary) {
    it(`connects to ${address}`, () => {
      expect(guard.allows(address)).to.equal(true);
    });
  }
  it("connects to nothing that is not an address", () => {
    for (const text of ["", "localhost", "example.com", "1.2.3.4.5", "12345:"]) expect(guard.allows(text)).to.equal(false);
  });

  for (const target of [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://127%2e0%2e0%2e1/",
    "http://127。0。0。1/",
    "http://①②⑦.0.0.1/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::7f00:1]/",
    "http://0/",
    "http://169.254.169.254/latest/meta-data",
    "http://3232235777/",
    "http://localhost/",
    "http://LOCALHOST:8080/",
    "http://localhost./",
    "http://any.localhost/",
    "https://[fe80::1]/",
  ]) {
    it(`refuses ${target} before anything is sent`, () => {
      expect(guard.refusal(target)).to.match(/^must not be the special address .*, unless the node's option webhooks\.allowTargets lists it$/);
    });
  }

  for (const [target, rule] of [
    ["", "must be an http or https URL"],
    ["nonsense", "must be an http or https URL"],
    ["/relative", "must be an http or https URL"],
    ["ftp://example.com/", "must be an http or https URL"],
    ["file:///etc/passwd", "must be an http or https URL"],
    ["javascript:alert(1)", "must be an http or https URL"],
    ["http://", "must be an http or https URL"],
    // A URL is read without these, and would not be the one that is shown.
    ...["\r", "\n", "\t", "\0", "\x1f", "\x7f"].map((control) => [`http://example.com/a${control}b`, "must be an http or https URL"] as const),
    ...[" http://example.com/", "http://example.com/ ", "http://exam\nple.com/", "\u0001http://example.com/"].map((text) => [text, "must be an http or https URL"] as const),
    ["http://user@example.com/", "must not carry a user name or password"],
    ["http://user:secret@example.com/", "must not carry a user name or password"],
    [`http://example.com/${"a".repeat(2_048)}`, "must not be longer than 2048 characters"],
  ] as const) {
    it(`refuses ${JSON.stringify(target.slice(0, 40))} as a target`, () => {
      expect(guard.refusal(target)).to.equal(rule);
    });
  }

  for (const target of ["http://example.com/", "https://example.com:8443/hook?key=1#part", "http://8.8.8.8:81/", "https://[2606:4700:4700::1111]/"]) {
    it(`accepts ${target}`, () => {
      expect(guard.refusal(target)).to.equal(undefined);
    });
  }

  it("allows what an option lists, and nothing else", () => {
    const open = createTargetGuard(["127.0.0.0/8", "10.1.2.3", "::ffff:10.2.0.0/112", "fd00::/8", "169.254.169.254"]);
    for (const address of ["127.0.0.1", "127.9.9.9", "::ffff:127.0.0.1", "10.1.2.3", "10.2.9.9", "fd12::1", "169.254.169.254", "1.1.1.1"]) {
      expect(open.allows(address), address).to.equal(true);
    }
    for (const address of ["::1", "10.1.2.4", "fc00::1", "169.254.169.253", "192.168.0.1"]) expect(open.allows(address), address).to.equal(false);
    expect(open.refusal("http://localhost:80/")).to.equal(undefined);
    expect(open.refusal("http://[::1]/")).to.match(/special/);
  });
});
