import { walkDatabases } from "../lmdb/file/databases.js";
import { newestMeta, type PageFile } from "../lmdb/file/page-file.js";
import { type Format, formatKey, layoutVersion } from "../layout/keys.js";
import type { EntryCheck } from "./entry-check.js";
import { unpackRecord } from "./unpack-record.js";

/** Whether a file is sound where it says its layout, and says another one or none. */
export const isOfOtherLayout = (file: PageFile): boolean => {
  const meta = newestMeta(file);
  if (meta === undefined) return false;
  let [faults, layout] = [0, undefined as unknown];
  const entry = (_: string, { key, value }: { key: Buffer; value: Buffer }): void => {
    if (!key.equals(formatKey)) return;
    try {
      layout = (unpackRecord(value) as Partial<Format>).layout;
    } catch {
      faults++;
    }
  };
  for (const _ of walkDatabases(meta, file, { only: "meta", page: () => undefined, order: () => undefined, fault: () => void faults++, entry }));
  return faults === 0 && layout !== layoutVersion;
};

/** Whether a store belongs to the network that is asked for. */
export const createFormatCheck = (nethash: string | undefined): EntryCheck => {
  let format: Partial<Format> | undefined;
  return {
    entry: (database, key, value) => {
      if (database !== "meta" || !key.equals(formatKey)) return;
      try {
        format = unpackRecord(value) as Partial<Format>;
      } catch {
        // The check of records reports that it cannot be read.
      }
    },
    end: () => {
      if (format === undefined) return { faults: ["it does not say which layout it has, and of which network it is"] };
      const isOther = nethash !== undefined && format.nethash !== nethash;
      return {
        faults: isOther ? [`it belongs to the network ${String(format.nethash)}, not to ${nethash}`] : [],
        findings: typeof format.nethash === "string" ? { nethash: format.nethash } : {},
      };
    },
  };
};
