import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** What a process of the bench can be asked, by name: one value in, one out. */
export type Handlers = Record<string, (input: never) => unknown>;

interface Question {
  id: number;
  name: string;
  input: unknown;
}

interface Answer {
  id: number;
  result?: unknown;
  error?: string;
}

/** Called in the process that answers. Ends the process when the one that asks is gone. */
export const answerWith = (handlers: Handlers): void => {
  const answer = async ({ id, name, input }: Question): Promise<void> => {
    try {
      const handler = handlers[name] as ((input: unknown) => unknown) | undefined;
      if (handler === undefined) throw new Error(`nobody answers ${name}`);
      process.send?.({ id, result: await handler(input) } satisfies Answer);
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) } satisfies Answer);
    }
  };
  process.on("message", (question) => void answer(question as Question));
  process.on("disconnect", () => process.exit());
};

/** A process of the bench. */
export interface BenchProcess<H extends Handlers> {
  readonly child: ChildProcess;
  ask<Name extends keyof H & string>(name: Name, input: Parameters<H[Name]>[0]): Promise<Awaited<ReturnType<H[Name]>>>;
  close(): Promise<void>;
}

/** How this file itself is run: compiled, or by a TypeScript loader. */
const own = import.meta.url.endsWith(".ts") ? { extension: "ts", execArgv: ["--import", "tsx"] } : { extension: "js", execArgv: [] };

/** Starts a file of this folder, named without its extension, in a process of its own. */
export const openProcess = <H extends Handlers>(file: string): BenchProcess<H> => {
  const path = fileURLToPath(new URL(`./${file}.${own.extension}`, import.meta.url));
  const child = fork(path, [], { execArgv: own.execArgv, serialization: "advanced" });
  const waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  let asked = 0;
  child.on("message", (message) => {
    const { id, result, error } = message as Answer;
    const question = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) question?.resolve(result as never);
    else question?.reject(new Error(error));
  });
  child.on("exit", (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended with ${String(code)}`));
    waiting.clear();
  });
  return {
    child,
    ask: (name, input) =>
      new Promise((resolve, reject) => {
        const id = asked++;
        waiting.set(id, { resolve, reject });
        child.send({ id, name, input } satisfies Question);
      }),
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
};
