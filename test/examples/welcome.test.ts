import { expect } from "chai";
import type { Host } from "../../examples/standalone/host.js";
import { readHostOptions } from "../../examples/standalone/options.js";
import { welcome } from "../../examples/standalone/program/welcome.js";
import { loadChain } from "../data/read.js";

const { network } = loadChain("core3-testnet-a");

describe("the node's welcome", () => {
  const forging = (isForging: boolean, ...args: string[]): string | undefined => {
    const options = readHostOptions(["--network", "testnet", ...args]);
    const host = { network, height: 1, url: "http://127.0.0.1:4003/api", isForging } as Host;
    return /forging {3}(.*)/.exec(welcome(host, options))?.[1];
  };

  it("says when the node forges", () => {
    expect(forging(false)).to.equal("off: --secrets names the delegates of testnet to forge for");
    expect(forging(false, "--no-forge")).to.equal("off: the tip stays where it is");
    expect(forging(true, "--secrets", "x.json")).to.equal("a block whenever it is the turn of a delegate of --secrets");
    expect(forging(true, "--secrets", "x.json", "--forge-interval", "5")).to.equal("a block every 5 ms; the chain's clock runs ahead");
  });
});
