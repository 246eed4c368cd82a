import { StringDecoder } from "node:string_decoder";

/** The lines of a stream of text, without their ends. Returns what comes after the last end of a line. */
export async function* linesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, string> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of chunks) {
    const parts = (rest + decoder.write(chunk)).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
  return rest;
}
