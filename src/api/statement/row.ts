import { type Static, Type } from "@sinclair/typebox";
import { AmountOrNone, AmountText } from "../fields.js";

/** A row of a statement. Amounts are whole numbers of 1e-8 unless the unit is the token. */
export const StatementRowResource = Type.Object(
  {
    time: Type.String({ description: "Time of the block, ISO 8601." }),
    height: Type.Integer(),
    kind: Type.String({
      description:
        "Key of the transaction's type, `forged` for a block, `other` for a change in a block that no transaction explains, or `opening` for the balance before the period.",
    }),
    id: Type.String({ description: "Id of the transaction or the block." }),
    counterparty: Type.String(),
    memo: Type.String(),
    in: AmountOrNone,
    out: AmountOrNone,
    fee: AmountOrNone,
    balance: Type.String({ ...AmountText, description: "Balance after the row." }),
  },
  { title: "StatementRow" },
);

export type StatementRow = Static<typeof StatementRowResource>;

const columns = ["time", "height", "kind", "id", "counterparty", "memo", "in", "out", "fee", "balance"] as const satisfies (keyof StatementRow)[];
const texts: ReadonlySet<keyof StatementRow> = new Set(["kind", "id", "counterparty", "memo"]);

/** What spreadsheets would take for a formula gets a `'` before it. */
const asText = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const decimals = 8;

const inTokens = (amount: string): string => {
  if (amount === "") return "";
  const [sign, digits] = amount.startsWith("-") ? ["-", amount.slice(1)] : ["", amount];
  const padded = digits.padStart(decimals + 1, "0");
  return `${sign}${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
};

/** The row with amounts of the token: with a point and all its decimals. */
export const rowInTokens = (row: StatementRow): StatementRow => ({
  ...row,
  in: inTokens(row.in),
  out: inTokens(row.out),
  fee: inTokens(row.fee),
  balance: inTokens(row.balance),
});

/** RFC 4180. */
export const csvHeader = `${columns.join(",")}\r\n`;

export const csvLine = (row: StatementRow): string =>
  `${columns.map((name) => quoted(texts.has(name) ? asText(String(row[name])) : String(row[name]))).join(",")}\r\n`;

export const jsonLine = (row: StatementRow): string => `${JSON.stringify(row)}\n`;
