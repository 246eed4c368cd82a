/** What is found out about a store beside what is wrong with it. */
export interface Findings {
  /** Of the network that the store says it belongs to. */
  nethash?: string;
  height?: number;
  id?: string;
  digest?: string;
}

/** Looks at each entry of a store's databases, in one pass over its file. */
export interface EntryCheck {
  /** Key and value last until the next entry. */
  entry(database: string, key: Buffer, value: Buffer): void;
  /** What is wrong, once all entries have been. */
  end(): { faults: string[]; findings?: Findings };
}
