import { expect } from "chai";
import { decodeRow, encodeRow } from "../../src/store/layout/row-encoding.js";
import { webhookRow } from "../webhooks/webhook-row.js";

const addresses = Array.from({ length: 2_000 }, (_, index) => `A${String(index).padStart(33, "0")}`);
const withConditions = (...values: unknown[]): object => ({ ...webhookRow, id: 7, conditions: values.map((value) => ({ key: "a", condition: "in", value })) });

describe("rows of webhooks", () => {
  it("are read as they were written: numbers of any size, lists of any length, and conditions without a value", () => {
    const rows = [
      { ...webhookRow, id: 7 },
      withConditions(addresses, ["a", "é\n\u0000\ud83d\ude00"], [1, 12_500_000_000_000_000_001n, "x"], [...addresses, 5n], [...addresses, "é"], addresses.slice(0, 999)),
      { ...webhookRow, id: 8, conditions: [{ key: "a", condition: "truthy" }] },
      { cursor: "5-abc", epoch: 3 },
    ];
    for (const row of rows) expect(decodeRow(encodeRow(row))).to.deep.equal(row);
  });

  it("are refused with any byte changed, and cut off anywhere", () => {
    const bytes = encodeRow({ ...webhookRow, id: 7 });
    for (let at = 0; at < bytes.length; at++) {
      for (const by of [1, 32, 255]) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ by;
        expect(() => decodeRow(changed), `byte ${at} by ${by}`).to.throw();
      }
      expect(() => decodeRow(Buffer.from(bytes.subarray(0, at))), `cut to ${at}`).to.throw();
    }
  });
});
