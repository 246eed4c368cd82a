import { expect } from "chai";
import { createProblems } from "../src/operate/problems.js";

const storeTexts = { begun: "the store cannot be written", ended: "the store can be written again" };

describe("a problem", () => {
  let [lines, now]: [string[], number] = [[], 0];
  const note = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const logger = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
  const create = () => createProblems(logger, () => now);
  beforeEach(() => ([lines, now] = [[], 1_000]));

  it("is logged once when it begins and once when it ends, with how long it lasted and how often it failed", () => {
    const store = create().define(storeTexts);
    for (let times = 0; times < 500; times++) store.begin("No space left on device");
    expect(lines).to.deep.equal(["error the store cannot be written: No space left on device"]);
    now += 3_240;
    store.end();
    store.end();
    expect(lines.slice(1)).to.deep.equal(["info the store can be written again, after 3.2 s and 500 failures"]);
    store.begin("Input/output error");
    now += 61_000;
    store.end();
    expect(lines.slice(2)).to.deep.equal(["error the store cannot be written: Input/output error", "info the store can be written again, after 61 s and 1 failure"]);
  });

  it("is present with its newest reason until it ends, after those that began before it", () => {
    const problems = create();
    const [store, source] = [problems.define(storeTexts), problems.define({ begun: "the source is silent", ended: "the source answers again" })];
    expect([problems.present(), store.reason()]).to.deep.equal([undefined, undefined]);
    source.begin("30 s");
    store.begin("No space left on device");
    source.begin("31 s");
    expect(problems.present()).to.equal("the source is silent: 31 s; the store cannot be written: No space left on device");
    expect(store.reason()).to.equal("No space left on device");
    source.end();
    expect(problems.present()).to.equal("the store cannot be written: No space left on device");
    store.end();
    expect(problems.present()).to.equal(undefined);
  });

  it("of several parts ends when each that failed has ended", () => {
    const problems = create();
    const store = problems.define(storeTexts);
    store.begin("full", "blocks");
    store.begin("full", "deliveries");
    store.end("events");
    store.end("blocks");
    expect(problems.present()).to.equal("the store cannot be written: full");
    store.end("deliveries");
    expect(problems.present()).to.equal(undefined);
    expect(lines).to.have.length(2);
  });

  it("is forgotten without a word when problems are cleared", () => {
    const problems = create();
    const store = problems.define(storeTexts);
    store.begin("full");
    problems.clear();
    store.end();
    expect([problems.present(), lines.length]).to.deep.equal([undefined, 1]);
  });
});
