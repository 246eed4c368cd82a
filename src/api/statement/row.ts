/** A row of a statement. Amounts are whole numbers of 1e-8 as text, empty where there is nothing. */
export interface StatementRow {
  /** The block's, ISO 8601. */
  time: string;
  height: number;
  /** Key of the transaction's type, `forged` for a block, or `other` for what a block changed and no transaction tells. */
  kind: string;
  /** Of the transaction, or the block. */
  id: string;
  counterparty: string;
  memo: string;
  in: string;
  out: string;
  fee: string;
  /** After the row. */
  balance: string;
}

const columns = ["time", "height", "kind", "id", "counterparty", "memo", "in", "out", "fee", "balance"] as const satisfies (keyof StatementRow)[];
const texts: ReadonlySet<keyof StatementRow> = new Set(["kind", "id", "counterparty", "memo"]);

/** What spreadsheets would take for a formula gets a `'` before it. */
const asText = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** RFC 4180. */
export const csvHeader = `${columns.join(",")}\r\n`;

export const csvLine = (row: StatementRow): string =>
  `${columns.map((name) => quoted(texts.has(name) ? asText(String(row[name])) : String(row[name]))).join(",")}\r\n`;

export const jsonLine = (row: StatementRow): string => `${JSON.stringify(row)}\n`;
