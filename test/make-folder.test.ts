import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { makeFolder } from "../src/files/make-folder.js";
import { temporaryFolder } from "./fixtures/folder.js";

describe("a folder", () => {
  let folder: string;
  beforeEach(() => (folder = temporaryFolder()));

  const codeOf = (path: string): unknown => {
    try {
      makeFolder(path);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    }
    return undefined;
  };

  it("is made with those above it, and may exist already", () => {
    const path = join(folder, "a", "b", "c");
    makeFolder(path);
    makeFolder(path);
    makeFolder(`${path}/`);
    expect(statSync(path).isDirectory()).to.equal(true);
  });

  it("is not made in or over a file, or below a link that leads nowhere", () => {
    const [file, link] = [join(folder, "file"), join(folder, "link")];
    writeFileSync(file, "");
    symlinkSync(join(folder, "nowhere"), link);
    expect([file, join(file, "x"), join(file, "x", "y"), link, join(link, "x")].map(codeOf)).to.deep.equal(["EEXIST", "ENOTDIR", "ENOTDIR", "EEXIST", "EEXIST"]);
    expect(existsSync(join(folder, "nowhere"))).to.equal(false);
  });

  it("is made for its owner alone where that is asked for, as are those above it", () => {
    makeFolder(join(folder, "a", "b"), 0o700);
    expect([join(folder, "a"), join(folder, "a", "b")].map((path) => statSync(path).mode & 0o777)).to.deep.equal([0o700, 0o700]);
  });

  it("is made through a link to another folder", () => {
    mkdirSync(join(folder, "other"));
    symlinkSync(join(folder, "other"), join(folder, "link"));
    makeFolder(join(folder, "link", "x"));
    expect(existsSync(join(folder, "other", "x"))).to.equal(true);
  });
});
