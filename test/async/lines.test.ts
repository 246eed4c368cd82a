import { Readable } from "node:stream";
import { expect } from "chai";
import fc from "fast-check";
import { LineTooLong, linesIn } from "../../src/async/lines.js";

const read = async (chunks: Iterable<Buffer>, most?: number): Promise<{ lines: string[]; rest: string }> => {
  const reading = linesIn(Readable.from(chunks), most);
  const lines: string[] = [];
  for (;;) {
    const step = await reading.next();
    if (step.done === true) return { lines, rest: step.value };
    lines.push(step.value);
  }
};

describe("The lines of a stream", () => {
  it("are the same wherever the stream is cut into chunks, also within a character", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "binary", maxLength: 9 }).map((text) => text.replaceAll("\n", "")), { minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 20 }), async (texts, size) => {
        const bytes = Buffer.from(texts.join("\n"));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
        const expected = bytes.toString("utf8").split("\n");
        expect(await read(chunks)).to.deep.equal({ lines: expected.slice(0, -1), rest: expected.at(-1) });
      }),
    );
  });

  it("may be long: one of many chunks is put together once", async () => {
    const chunk = Buffer.alloc(1_024, "A");
    const begun = process.cpuUsage();
    const { lines, rest } = await read([...Array.from({ length: 16_384 }, () => chunk), Buffer.from("\nB")]);
    const { user, system } = process.cpuUsage(begun);
    expect([lines.map(({ length }) => length), rest]).to.deep.equal([[16 * 2 ** 20], "B"]);
    // Half a second; a text that grows by each chunk takes a minute.
    expect((user + system) / 1_000).to.be.below(15_000);
  });

  it("have a bound, beyond which nothing more is read", async () => {
    expect(await read([Buffer.from("AAA\nBB"), Buffer.from("B\nCCC")], 3)).to.deep.equal({ lines: ["AAA", "BBB"], rest: "CCC" });
    for (const chunks of [["AAAA\n"], ["AA", "AA"], ["A\nB", "BBB"]]) {
      const failure: unknown = await read(chunks.map((chunk) => Buffer.from(chunk)), 3).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(LineTooLong).with.property("message", "the line has more than 3 characters");
    }
  });
});
