/** What was waited for did not come in time. */
export class Overdue extends Error {
  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds / 1000} s`);
    this.name = "Overdue";
  }
}

/** A thrown value as an error. */
const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/**
 * An answer, if it comes within so many milliseconds (`Infinity`: as long as it takes) and before the signal is aborted.
 * @throws Overdue; the signal's reason
 */
export const deadline = <T>(answer: Promise<T>, milliseconds: number, signal?: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abandon);
      settle();
    };
    const abandon = (): void => end(() => reject(errorOf(signal?.reason)));
    const overdue = (): void => end(() => reject(new Overdue(milliseconds)));
    const timer = milliseconds === Infinity ? undefined : setTimeout(overdue, milliseconds);
    answer.then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(errorOf(error))),
    );
    if (signal?.aborted === true) return abandon();
    signal?.addEventListener("abort", abandon, { once: true });
  });
