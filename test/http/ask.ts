import { once } from "node:events";
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect } from "node:net";

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
  /** The body parsed as JSON; throws if it is not JSON. */
  json: unknown;
}

export interface Question {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

const collect = async (stream: AsyncIterable<unknown>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
};

/** Sends exactly the given headers, on a connection of its own. */
export const ask = async (port: number, path: string, { method = "GET", headers = {}, body }: Question = {}): Promise<Answer> => {
  const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const bytes = await collect(response);
  const text = bytes.toString();
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    bytes,
    text,
    get json(): unknown {
      return JSON.parse(text) as unknown;
    },
  };
};

/** Sends bytes unchanged and returns everything received until the server closes the connection. */
export const sendRaw = async (port: number, bytes: string | Buffer): Promise<string> => {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.end(bytes);
  return (await collect(socket)).toString("latin1");
};

/** Splits one raw response into status, head and body. */
export const parseRaw = (text: string): { status: number; head: string; body: string } => {
  const end = text.indexOf("\r\n\r\n");
  return { status: Number(text.slice(9, 12)), head: text.slice(0, end), body: text.slice(end + 4) };
};
