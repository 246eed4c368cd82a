/** What a ratio has to reach, or must not exceed. */
export type Goal = { atLeast: number } | { atMost: number };

/** One line of the table: a figure, and what it is compared with in the same run. */
export interface Row {
  readonly group: string;
  readonly what: string;
  readonly figure: number;
  readonly unit: string;
  /** What it is compared with: a peer or a limit. */
  readonly against: string;
  readonly peer: number;
  readonly ratio: number;
  readonly goal?: Goal;
  readonly note?: string;
}

export const isMet = ({ ratio, goal }: Pick<Row, "ratio" | "goal">): boolean =>
  goal === undefined || ("atLeast" in goal ? ratio >= goal.atLeast : ratio <= goal.atMost);

/** Whether a goal is missed by more than a fifth: more than machines differ. */
export const isFarOff = ({ ratio, goal }: Pick<Row, "ratio" | "goal">): boolean =>
  goal !== undefined && !("atLeast" in goal ? ratio >= goal.atLeast * 0.8 : ratio <= goal.atMost * 1.2);
