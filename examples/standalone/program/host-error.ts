/** An error that the user can fix. Its message is one sentence that says what is wrong and where. It ends the host with `exitCode`. */
export class HostError extends Error {
  readonly exitCode: number;

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "HostError";
    this.exitCode = options.exitCode ?? 1;
  }
}

/** A mistake in the options, wherever they are set: on the command line, in the environment or in a file. */
export class UsageError extends HostError {
  constructor(message: string) {
    super(message, { exitCode: 2 });
    this.name = "UsageError";
  }
}

/** The message of a thrown value, in one line. */
export const messageOf = (error: unknown): string => {
  const lines = (error instanceof Error ? error.message : String(error)).split("\n");
  return lines.map((line) => line.trim()).filter((line) => line !== "").join(" ");
};

/** The code of a system error: ENOENT, EACCES, EADDRINUSE. */
export const codeOf = (error: unknown): string | undefined => {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
};

/** For a file, or an option and its file, that cannot be read. */
export const cannotRead = (path: string, error: unknown): HostError =>
  new HostError(`${path} cannot be read: ${codeOf(error) === "ENOENT" ? "there is no such file" : messageOf(error)}.`, { cause: error });

/** The file that a system error is about, if any. */
export const pathOf = (error: unknown): string | undefined => {
  const path: unknown = error instanceof Error && "path" in error ? error.path : undefined;
  return typeof path === "string" ? path : undefined;
};
