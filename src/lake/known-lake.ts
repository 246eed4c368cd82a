import { join } from "node:path";
import type { Logger } from "../../types/node-context.js";
import { putFile, readIfThere } from "./files.js";
import { type LakeDemands, type LakeFiles, openLakeFiles } from "./lake-files.js";

/** In a data folder: the key of the first lake that was seen, or of the last one whose key was demanded, the last manifest that was checked with all before it, and downloads. */
const names = { key: "lake-key", checked: "lake-checked", downloads: "lake-download" };

/** Milliseconds between two lines about progress. */
const tellInterval = 10_000;

interface KnownLakeNeeds extends Pick<LakeDemands, "nethash" | "key" | "signal"> {
  /** Without one, nothing is remembered. */
  dataDir: string | undefined;
  logger: Pick<Logger, "info">;
}

/**
 * Opens a lake for a data folder. Where no key is demanded, it must have signed with that of the first lake seen there; earlier manifests, of
 * which a long chain has thousands, are checked once. @throws PorticoError LAKE_DAMAGED, LAKE_FOREIGN; Error where it cannot be reached
 */
export const openKnownLake = async (where: string, { dataDir, logger, key, ...demands }: KnownLakeNeeds): Promise<{ files: LakeFiles; remember(): Promise<void> }> => {
  /** Only a file that is not there says nothing: one that cannot be read must not let another key in. */
  const remembered = async (name: string): Promise<string | undefined> => (dataDir === undefined ? undefined : (await readIfThere(join(dataDir, name)))?.toString("utf8").trim());
  const put = async (name: string, text: string): Promise<void> => (dataDir === undefined ? undefined : putFile(join(dataDir, name), Buffer.from(`${text}\n`)));

  let toldAt = performance.now();
  const onChecked = (count: number): void => {
    if (performance.now() - toldAt < tellInterval) return;
    toldAt = performance.now();
    logger.info(`${count} earlier manifests of ${where} are checked`);
  };

  const known = await remembered(names.key);
  const wanted = key !== undefined || dataDir === undefined ? { key } : { key: known, keyFile: join(dataDir, names.key) };
  const checked = await remembered(names.checked);
  const downloads = dataDir === undefined ? undefined : join(dataDir, names.downloads);
  const files = await openLakeFiles(where, { ...demands, ...wanted, checked, downloads, onChecked });
  return {
    files,
    remember: async () => {
      if (files.manifest.key !== known) await put(names.key, files.manifest.key);
      if (files.sha256 !== checked) await put(names.checked, files.sha256);
    },
  };
};
