import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), "portico-custom-fork-"));

export const removed = (folder: string): void => rmSync(folder, { recursive: true });
