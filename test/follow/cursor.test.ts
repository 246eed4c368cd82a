import { expect } from "chai";
import { PorticoError } from "../../src/errors.js";
import { cursorText, parseCursor, parseCursors } from "../../src/follow/cursor.js";

const refused = (text: string): boolean => {
  try {
    parseCursors(text);
    return false;
  } catch (error) {
    return error instanceof PorticoError && error.code === "BAD_REQUEST";
  }
};

describe("A cursor", () => {
  it("reads back as it is written", () => {
    for (const text of ["genesis", "105-8912345678901234567", "105-8912345678901234567~a1b2.5512", "~a1b2.5512", `7-${"ab".repeat(32)}`]) {
      const parsed = parseCursor(text);
      expect(parsed.kind === "cursor" && cursorText(parsed.cursor)).to.equal(text);
    }
  });

  it("may be the word tip or a bare height", () => {
    expect(parseCursor("tip")).to.deep.equal({ kind: "tip" });
    expect(parseCursor("105")).to.deep.equal({ kind: "height", height: 105 });
    expect(parseCursor("0")).to.deep.equal({ kind: "height", height: 0 });
    expect(parseCursor("12345678901")).to.deep.equal({ kind: "height", height: 12_345_678_901 });
  });

  it("may be one of up to 32", () => {
    expect(parseCursors("105-8, 104-7,103")).to.have.length(3);
    expect(parseCursors(Array.from({ length: 32 }, (_, i) => i + 1).join())).to.have.length(32);
    expect(refused(Array.from({ length: 33 }, (_, i) => i + 1).join())).to.equal(true);
  });

  it("is refused where it is malformed", () => {
    for (const text of ["", ",", "105-", "-8", "0-8", "0105-8", "1e3", "-5", "105-8~", "105-8~a1b2", "105-8~.5", "105-8~a1b2.05", "105-8~A.1", "Tip", "genesis-1", "105 - 8"]) {
      expect(refused(text), text).to.equal(true);
    }
  });
});
