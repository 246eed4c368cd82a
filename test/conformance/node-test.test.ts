import { expect } from "chai";
import { runExample } from "../fixtures/process.js";

describe("the suite in Node's own test runner", () => {
  const run = async (environment: Record<string, string> = {}) => {
    const child = runExample("test/conformance/node-test-file.ts", environment);
    const code = await child.ended;
    const count = (what: string): number => Number(/\d+$/.exec(child.lines.find((line) => new RegExp(`^(#|ℹ) ${what} \\d+$`).test(line)) ?? "")?.[0]);
    return { code, pass: count("pass"), fail: count("fail"), skipped: count("skipped") };
  };

  it("passes a correct adapter, and skips what it does not support", async () => {
    const { code, pass, fail, skipped } = await run();
    expect([code, fail]).to.deep.equal([0, 0]);
    expect(pass).to.be.above(60);
    expect(skipped).to.be.above(0);
  });

  it("fails a faulty one", async () => {
    const { code, fail } = await run({ WRONG: "1" });
    expect(code).to.equal(1);
    expect(fail).to.be.above(0);
  });
});
