import { execFile } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { openEventJournal } from "../../src/store/follow/event-journal.js";
import type { HeardEvent } from "../../types/host-log.js";
import { createReceiver } from "../webhooks/receiver.js";
import { createStage } from "../webhooks/stage.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { programOf } from "../fixtures/programs.js";

const heard = (number: number, json = `{"n":${number}}`): HeardEvent => ({ number, at: 1_000 + number, event: "peer.added", json });

describe("the event journal", () => {
  let dataDir: string;
  const path = (): string => join(dataDir, "host-events.journal");
  beforeEach(() => {
    dataDir = temporaryFolder();
  });

  it("returns what was appended and not forgotten, whatever the text", () => {
    const odd = '{"text":"line\\nbreak \\u2028 é 😀"}';
    const journal = openEventJournal(dataDir);
    for (const event of [heard(1), heard(2, odd), heard(3)]) journal.append(event);
    journal.forget(1);
    // As if the process ended here.
    const next = openEventJournal(dataDir);
    expect(next.kept()).to.deep.equal([heard(1), heard(2, odd), heard(3)]);
    next.forget(2);
    expect(next.kept()).to.deep.equal([heard(3)]);
    journal.close();
    next.close();
  });

  it("is empty once everything is forgotten, and can be appended to again", () => {
    const journal = openEventJournal(dataDir);
    journal.append(heard(1));
    journal.append(heard(2));
    journal.forget(2);
    expect(readFileSync(path(), "utf8")).to.equal("");
    journal.append(heard(3));
    journal.close();
    expect(openEventJournal(dataDir).kept()).to.deep.equal([heard(3)]);
  });

  it("is readable only by its owner, also if it was not, and when it is rewritten", () => {
    const mode = (): number => statSync(path()).mode & 0o777;
    writeFileSync(path(), "");
    // What a process leaves that ended while it rewrote the file.
    writeFileSync(`${path()}.new`, "");
    for (const file of [path(), `${path()}.new`]) chmodSync(file, 0o644);
    const journal = openEventJournal(dataDir);
    expect(mode()).to.equal(0o600);
    const large = JSON.stringify("x".repeat(5_000_000));
    for (const number of [1, 2]) journal.append(heard(number, large));
    journal.forget(1);
    expect(statSync(path()).size).to.be.below(6_000_000);
    expect(mode()).to.equal(0o600);
    journal.close();
  });

  it("skips a torn last line, and appends on a new line", () => {
    const journal = openEventJournal(dataDir);
    journal.append(heard(1));
    journal.close();
    appendFileSync(path(), '[2,1002,"peer.added","{\\"n\\"');
    const next = openEventJournal(dataDir);
    expect(next.kept()).to.deep.equal([heard(1)]);
    next.append(heard(2));
    next.close();
    expect(openEventJournal(dataDir).kept()).to.deep.equal([heard(1), heard(2)]);
  });

  it("sets lines that cannot be read aside in a file, which it names in one line of the log, and keeps the others", () => {
    const line = ({ number, at, event, json }: HeardEvent): string => JSON.stringify([number, at, event, json]);
    const unreadable = ["nonsense", "[6,1006]", "null", JSON.stringify([7, 1_007, "peer.added", "{torn"]), line(heard(9_000_000)), JSON.stringify([8, 1_008, 5, "{}"]), line(heard(2))];
    const [no1, no2, no3, no4, no5, no6, no7] = unreadable;
    const text = [no1, line(heard(5)), no2, no3, no4, no5, line(heard(9)), no6, line(heard(10)), no7, line(heard(11)), '[12,1012,"torn'].join("\n");
    writeFileSync(path(), text);
    const errors: string[] = [];
    const journal = openEventJournal(dataDir, { logger: { error: (message) => void errors.push(message) } });
    expect(journal.kept()).to.deep.equal([5, 9, 10, 11].map((number) => heard(number)));
    journal.close();
    expect(readFileSync(`${path()}.unreadable`, "utf8")).to.equal(unreadable.map((one) => `${one}\n`).join(""));
    expect(statSync(`${path()}.unreadable`).mode & 0o777).to.equal(0o600);
    expect(errors).to.deep.equal([`webhooks: 7 events in ${path()} cannot be read and will not be delivered; kept in ${path()}.unreadable`]);
    openEventJournal(dataDir, { logger: { error: (message) => void errors.push(message) } }).close();
    expect(errors).to.have.length(1);
  });

  it("delivers what follows a line that cannot be read", async () => {
    const receiver = await createReceiver();
    const stage = await createStage();
    stage.engine.create({ event: "peer.added", target: receiver.url, enabled: true, conditions: [] });
    const lines = `[100,1100]\n${JSON.stringify([101, 1_101, "peer.added", '{"n":101}'])}\n`;
    await stage.restart({}, () => Promise.resolve(appendFileSync(join(stage.dataDir, "host-events.journal"), lines)));
    await receiver.until(1);
    expect(JSON.parse(receiver.received[0]?.body ?? "")).to.have.nested.property("data.n", 101);
  });

  it("keeps events that fit after one that did not", async () => {
    const script = programOf(new URL("full-journal-process.ts", import.meta.url));
    const { stdout } = await promisify(execFile)("sh", ["-c", `ulimit -f 128; exec "$0" "$1" "$2"`, process.execPath, script, dataDir]);
    const [first, failed, ...others] = JSON.parse(stdout) as string[];
    expect([first, ...others]).to.deep.equal(["written", "written", "written"]);
    expect(failed).to.include("its file has reached the size that the system allows");
    const text = (length: number): string => JSON.stringify("x".repeat(length));
    expect(openEventJournal(dataDir).kept()).to.deep.equal([heard(1, text(10)), heard(2, text(20)), heard(3, text(30))]);
  });

  it("keeps using its file when that cannot be rewritten", () => {
    const journal = openEventJournal(dataDir);
    const large = JSON.stringify("x".repeat(5_000_000));
    for (const number of [1, 2]) journal.append(heard(number, large));
    // Blocks the new file.
    mkdirSync(`${path()}.new`);
    expect(() => journal.forget(1)).to.throw("EISDIR");
    journal.append(heard(3));
    rmdirSync(`${path()}.new`);
    expect(openEventJournal(dataDir).kept().map(({ number }) => number)).to.deep.equal([1, 2, 3]);
    journal.close();
  });

  it("stays small although it is never empty", () => {
    const journal = openEventJournal(dataDir);
    const large = JSON.stringify("x".repeat(100_000));
    for (let number = 1; number <= 300; number++) {
      journal.append(heard(number, large));
      journal.forget(number - 1);
    }
    expect(statSync(path()).size).to.be.below(10_000_000);
    journal.append(heard(301));
    journal.close();
    expect(openEventJournal(dataDir).kept().slice(-2)).to.deep.equal([heard(300, large), heard(301)]);
  });
});
