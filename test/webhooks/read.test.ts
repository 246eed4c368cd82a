import { expect } from "chai";
import type { Follow, Group } from "../../src/follow/index.js";
import { read } from "../../src/webhooks/scan/read.js";
import type { Seat } from "../../src/webhooks/scan/places/seat.js";

type Kind = "applied" | "reverted";

const blockOf = (text: string): { height: number; id: string } => ({ height: Number.parseInt(text, 10), id: text.split("-")[1] ?? "" });
/** A block that is applied on its parent, or reverted to that. */
const group = (kind: Kind, block: string, parent: string): Group => {
  const [before, after] = kind === "applied" ? [parent, block] : [block, parent];
  return { change: { kind, full: { block: blockOf(block) } }, before: { block: blockOf(before) }, after: { block: blockOf(after) }, events: [] } as unknown as Group;
};

describe("what is read for a replay", () => {
  const seat: Seat = { ids: new Set([1]), place: { cursor: "5-a" }, options: {}, until: 6, role: 1, told: [], stirs: 0 };
  const reading = (groups: Group[], atEnd = false): ReturnType<typeof read> =>
    read({ locate: (text: string) => ({ block: blockOf(text) }), after: (cursor: unknown) => ({ groups, cursor, atEnd }) } as unknown as Follow, seat);

  it("is what is applied up to its last height, and is at its end beyond that", async () => {
    const [six, seven] = [group("applied", "6-a", "5-a"), group("applied", "7-a", "6-a")];
    expect(await reading([six])).to.deep.include({ groups: [six], atEnd: false, place: { cursor: "5-a" } });
    expect(await reading([six, seven])).to.deep.include({ groups: [six], atEnd: true });
    expect(await reading([seven])).to.deep.include({ groups: [], atEnd: true, place: { cursor: "5-a" } });
    expect(await reading([], true)).to.deep.include({ groups: [], atEnd: true, place: { cursor: "5-a" } });
  });

  it("is nothing of reversals, after which it goes on, though they come alone", async () => {
    const [five, four, other] = [group("reverted", "5-a", "4-a"), group("reverted", "4-a", "3-a"), group("applied", "4-b", "3-a")];
    expect(await reading([five, four])).to.deep.include({ groups: [], atEnd: false, place: { cursor: "3-a" } });
    expect(await reading([five, four, other])).to.deep.include({ groups: [other], atEnd: false, place: { cursor: "5-a" } });
  });
});
