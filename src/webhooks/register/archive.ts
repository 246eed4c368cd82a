import type { Webhooks } from "../../../types/webhooks.js";
import { messageOf, PorticoError } from "../../errors.js";
import { type InFlightView, foldLedger } from "../read/ledger.js";
import type { LedgerEntry, Progress, WebhookRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import type { Register } from "./register.js";

export interface ArchiveNeeds {
  store: WebhookStore;
  register: Register;
  attempts: InFlightView;
  /** Writes where a webhook is, if it has moved without a match; within a transaction. */
  keepPosition(webhookId: number): void;
  onChange(webhookId: number): void;
}

/** Of the archive's form. */
const version = 1;

interface ArchivedWebhook {
  webhook: WebhookRow;
  progress: Progress;
  ledger: LedgerEntry[];
}

interface Archive {
  portico: "webhooks";
  version: number;
  webhooks: ArchivedWebhook[];
}

/** The only member of an object, if its name is `bigint` or that after some `^`. */
const onlyMember = (value: unknown): [name: string, value: unknown] | undefined => {
  const [member, ...others] = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return member !== undefined && others.length === 0 && /^\^{0,9}bigint$/.test(member[0]) ? member : undefined;
};

/** Whole numbers beyond 2^53 are written as `{"bigint": "…"}`; an object of a client's that looks so gets a `^` before its name. */
const toJson = (_name: string, value: unknown): unknown => {
  if (typeof value === "bigint") return { bigint: String(value) };
  const member = onlyMember(value);
  return member === undefined ? value : { [`^${member[0]}`]: member[1] };
};

const fromJson = (_name: string, value: unknown): unknown => {
  const [name, content] = onlyMember(value) ?? [];
  if (name === undefined) return value;
  return name === "bigint" ? BigInt(content as string) : { [name.slice(1)]: content };
};

const parse = (text: string): Archive => {
  let archive: Partial<Archive> | null;
  try {
    archive = JSON.parse(text, fromJson) as Partial<Archive> | null;
  } catch (error) {
    throw new PorticoError("BAD_REQUEST", `The webhooks to be imported are not JSON: ${messageOf(error)}`);
  }
  if (archive?.portico !== "webhooks" || archive.version !== version || !Array.isArray(archive.webhooks)) {
    throw new PorticoError("BAD_REQUEST", `This is not a webhook export that this version can read (version ${version}).`);
  }
  return archive as Archive;
};

/**
 * Carries webhooks to another machine: under their ids, with their secrets, and where they are. What is open is found again there, under
 * the same names.
 */
export const createArchive = ({ store, register, attempts, keepPosition, onChange }: ArchiveNeeds): Pick<Webhooks, "export" | "import"> => {
  const archived = (webhook: WebhookRow): ArchivedWebhook => {
    const { folded, position } = foldLedger({ store, attempts }, webhook.id);
    const { from, floor } = store.progress(webhook.id);
    return { webhook, progress: { from, floor, ...position, isBeyond: folded.length > 0 }, ledger: folded };
  };

  return {
    export: () => {
      const webhooks = store.transaction(() => {
        for (const id of register.ids()) keepPosition(id);
        return [...store.webhooks()].map(archived);
      });
      return JSON.stringify({ portico: "webhooks", version, webhooks } satisfies Archive, toJson);
    },
    import: (text) => {
      const { webhooks } = parse(text);
      const taken = webhooks.map(({ webhook }) => webhook.id).filter((id) => store.webhook(id) !== undefined);
      if (taken.length > 0)
        throw new PorticoError("BAD_REQUEST", `Webhooks cannot be imported, because these ids are in use: ${taken.join(", ")}.`);
      store.transaction(() => {
        for (const { webhook, progress, ledger } of webhooks) {
          store.importWebhook(webhook);
          store.putProgress(webhook.id, progress);
          for (const entry of ledger) store.putLedgerEntry(webhook.id, entry);
        }
      });
      for (const { webhook } of webhooks) onChange(webhook.id);
      return webhooks.length;
    },
  };
};
