import { StringDecoder } from "node:string_decoder";

/** Characters of a line, at the most: a block with all its transactions has a tenth of that. */
const longest = 64 * 2 ** 20;

export class LineTooLong extends Error {
  constructor(most: number) {
    super(`the line has more than ${most} characters`);
    this.name = "LineTooLong";
  }
}

/** The lines of a stream of text, without their ends. Returns what comes after the last end of a line. @throws LineTooLong */
export async function* linesIn(chunks: AsyncIterable<Buffer>, most = longest): AsyncGenerator<string, string> {
  const decoder = new StringDecoder("utf8");
  /** The parts of a line that has not ended. They are joined once: a text that grows by each chunk is copied as often. */
  let begun: string[] = [];
  let length = 0;
  const add = (part: string): void => {
    length += part.length;
    if (length > most) throw new LineTooLong(most);
    begun.push(part);
  };
  const end = (): string => {
    const line = begun.join("");
    [begun, length] = [[], 0];
    return line;
  };
  for await (const chunk of chunks) {
    const parts = decoder.write(chunk).split("\n");
    const rest = parts.pop() ?? "";
    for (const part of parts) {
      add(part);
      yield end();
    }
    add(rest);
  }
  return end();
}
