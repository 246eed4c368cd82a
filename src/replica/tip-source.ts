/** Brings the node's changes by another way than its own stream, such as a message broker. What it does not bring is asked of the node. */
export interface TipSource {
  /** `take` is given lines of `/changes`, with times, one after the other. Returns at once; what goes wrong is its own affair. */
  start(nethash: string, take: (line: string) => Promise<void>): { stop(): Promise<void> };
}
