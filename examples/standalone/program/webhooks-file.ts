import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { exportWebhooks, PorticoError } from "portico";
import type { ApiPlugin } from "../../../types/plugin.js";
import { HostError, messageOf } from "./host-error.js";

/** Writes the webhooks of a data folder into a file that only its owner can read. @throws HostError */
export const exportInto = async (dataDir: string, file: string): Promise<void> => {
  const draft = `${file}.partial`;
  try {
    const text = await exportWebhooks({ dataDir });
    rmSync(draft, { force: true });
    writeFileSync(draft, `${text}\n`, { mode: 0o600, flag: "wx" });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new HostError(`The webhooks of ${dataDir} cannot be written into ${file}: ${messageOf(error)}.`, { cause: error });
  }
};

/** Adds the webhooks of a file. @throws HostError */
export const importFrom = (file: string, { webhooks }: Pick<ApiPlugin, "webhooks">): number => {
  try {
    if (webhooks === undefined) throw new PorticoError("NOT_SUPPORTED", "this node has no webhooks");
    return webhooks.import(readFileSync(file, "utf8"));
  } catch (error) {
    throw new HostError(`The webhooks of ${file} cannot be added: ${messageOf(error).replace(/\.$/, "")}.`, { cause: error });
  }
};
